import type { Hex } from "viem";
import { hashJson } from "../../protocol/values/canonical-json.ts";
import { Problem } from "../errors/problem.ts";
import { limits } from "../limits.ts";
import type { IdempotencyRecord } from "../store/records.ts";
import type { Change, Store } from "../store/store.ts";
import { type Answer, serializedAnswer } from "./answers/answer.ts";
import type { Operation } from "./operation.ts";

/** The request that an Idempotency-Key identifies: its scope and the request that it was first sent with. */
export interface IdempotencyClaim {
  /** The record's key in the store. */
  key: string;
  fingerprint: Hex;
}

/** A key with its record in the store: its revision, 0 while there is none, and what an effect was begun on. */
export interface HeldKey extends IdempotencyClaim {
  revision: number;
  subject: string | null;
}

/** The current state of a key: the answer that is stored under it, or a request that has none yet. */
export type KeyState = { answer: Answer } | { held: HeldKey | null };

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
      `The Idempotency-Key has ${key.length} ${key.length === 1 ? "character" : "characters"}. Send ${least} to ${most} visible ASCII characters.`,
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
 * Looks up a key: the stored answer is repeated, byte by byte, to the same request.
 *
 * @throws Problem idempotency_key_reused when the key was first sent with another request.
 */
export async function lookUpKey(store: Store, { key, fingerprint }: IdempotencyClaim): Promise<KeyState> {
  const found = await store.get("idempotency", key);
  if (found === undefined) return { held: { key, fingerprint, revision: 0, subject: null } };
  const { value, revision } = found;
  if (value.fingerprint !== fingerprint)
    throw new Problem(
      "idempotency_key_reused",
      "This Idempotency-Key was sent before with another method, path or body. Send a new key for a new request.",
    );
  if (value.response === null) return { held: { key, fingerprint, revision, subject: value.subject } };
  const { status, body } = value.response;
  return { answer: serializedAnswer(status, body, { "Idempotent-Replayed": "true" }) };
}

/** Returns the change that stores the record of a key, which no other process may have made or changed meanwhile. */
export function writeKey({ key, revision }: HeldKey, value: IdempotencyRecord): Change {
  const record = { collection: "idempotency", key, value } as const;
  return revision === 0 ? { kind: "insert", ...record } : { kind: "update", revision, ...record };
}

/**
 * Returns whether a refusal frees the key, because it had no effect. A request that may have had an effect, now or earlier, keeps the key, so
 * that a repeat resumes the request and gets the success also when another key brings it.
 */
export function freesKey(error: unknown, { subject }: HeldKey): boolean {
  if (!(error instanceof Problem) || error.status >= 500) return false;
  return subject === null && !error.hadEffect && error.code !== "outcome_unknown";
}
