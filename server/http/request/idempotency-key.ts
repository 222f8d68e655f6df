import { readIdempotencyKey } from "../idempotency.ts";
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
