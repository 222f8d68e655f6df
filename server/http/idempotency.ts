import type { Hex } from "viem";
import { hashJson } from "../../protocol/values/canonical-json.ts";
import { Problem } from "../api/errors/problem.ts";
import { limits } from "../api/limits.ts";
import type { IdempotencyRecord } from "../store/records.ts";
import type { Operation } from "./operation.ts";

/** The request that an Idempotency-Key identifies: its scope and the request that it was first sent with. */
export interface IdempotencyClaim {
  /** The record's key in the store. */
  key: string;
  fingerprint: Hex;
}

/**
 * Reads the Idempotency-Key of a request.
 *
 * @throws Problem idempotency_key_missing, idempotency_key_invalid.
 */
export function readIdempotencyKey(values: readonly string[] | undefined): string {
  const [key, ...more] = values ?? [];
  const { idempotency_key_min: least, idempotency_key_max: most } = limits;
  if (key === undefined)
    throw new Problem(
      "idempotency_key_missing",
      `The Idempotency-Key header is missing. Send a new text of ${least} to ${most} characters for each write.`,
    );
  if (more.length > 0)
    throw new Problem("idempotency_key_invalid", "The Idempotency-Key header was sent more than once.");
  if (key.length < least || key.length > most)
    throw new Problem(
      "idempotency_key_invalid",
      `The Idempotency-Key has ${key.length} characters; ${least} to ${most} visible ASCII characters are allowed.`,
    );
  const wrong = /[^\x21-\x7e]/.exec(key)?.index;
  if (wrong !== undefined)
    throw new Problem(
      "idempotency_key_invalid",
      `Character ${wrong + 1} of the Idempotency-Key is ${key[wrong] === " " ? "a space" : "not visible ASCII"}. Send ${least} to ${most} visible ASCII characters.`,
    );
  return key;
}

/**
 * Says what a key identifies: program and key (wallet routes: program, object and key), and a fingerprint over method,
 * concrete path and parsed body.
 */
export function claimKey(
  operation: Operation,
  request: { key: string; path: string; body: unknown; program: string },
): IdempotencyClaim {
  const { key, path, body, program } = request;
  const scope = operation.authorization.kind === "wallet" ? path : program;
  return { key: `${scope}\n${key}`, fingerprint: hashJson([operation.method.toUpperCase(), path, body]) };
}

/**
 * Compares a request with the one that its key was first sent with.
 *
 * @throws Problem idempotency_key_reused
 */
export function requireSameRequest(
  first: Pick<IdempotencyRecord, "fingerprint">,
  claim: IdempotencyClaim,
): void {
  if (first.fingerprint !== claim.fingerprint)
    throw new Problem(
      "idempotency_key_reused",
      "This Idempotency-Key was sent before with another method, path or body.",
    );
}

/** The refusal of a repeat that came while the first request is in progress. */
export function inFlight(): Problem {
  return new Problem("idempotency_in_flight", "The request with this Idempotency-Key is still under way.", {
    headers: { "Retry-After": "1" },
  });
}
