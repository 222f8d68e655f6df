import { Problem } from "../../api/errors/problem.ts";
import { limits } from "../../api/limits.ts";
import type { Step } from "../step.ts";
import type { Addressed } from "./authenticate.ts";

/** A request with its idempotency key; null where the operation takes none. */
export interface Keyed extends Addressed {
  key: string | null;
}

/** Reads the Idempotency-Key of an operation that takes one. @throws Problem idempotency_key_missing, idempotency_key_invalid */
export const readKey: Step<Addressed, Keyed> = async (context, next) => {
  const { operation, request } = context;
  const key = operation.idempotent ? readIdempotencyKey(request.headersDistinct["idempotency-key"]) : null;
  return await next({ ...context, key });
};

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
