import { z } from "zod";
import { limits } from "../limits.ts";
import { idSchema } from "../schemas/primitives.ts";

/** The key that a write is sent with. */
export const idempotencyKeyHeader = z
  .string()
  .min(limits.idempotency_key_min)
  .max(limits.idempotency_key_max)
  .regex(/^[!-~]+$/)
  .meta({
    description:
      "Names this intent: new for each intent, the same for each retry. 8 to 100 visible ASCII characters. " +
      "A repeat with the identical body gets the first answer, byte for byte.",
    example: "9f1c2b1e-6a0f-4a51-9d3e-0f6a2f1c7b10",
  });

/** The headers of a signed event (Standard Webhooks). */
export const webhookHeaders = z.object({
  "webhook-id": idSchema("evt").meta({ description: "The event's id." }),
  "webhook-timestamp": z
    .string()
    .regex(/^[0-9]{1,12}$/)
    .meta({
      description: "Unix seconds of this delivery; at most 300 from the sandbox's time.",
      example: "1767225600",
    }),
  "webhook-signature": z.string().min(1).meta({
    description:
      "`v1,<HMAC-SHA256> v1a,<Ed25519>`, base64, over `id.timestamp.body`. The receiver verifies `v1a`.",
    example: "v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4= v1a,3bkQ…",
  }),
});

const requestId = idSchema("req").meta({ description: "Names this answer in the service's log." });

const retryAfter = z
  .string()
  .regex(/^[0-9]+$/)
  .optional()
  .meta({ description: "Seconds after which the identical request may succeed.", example: "1" });

const noStore = z
  .string()
  .optional()
  .meta({ description: "`no-store`: what it is about is nobody else's.", example: "no-store" });

/** The headers of a success. */
export function successHeaders(operation: { idempotent: boolean }, status: number) {
  return z.object({
    "X-Request-Id": requestId,
    "Cache-Control": noStore,
    ...(status === 202 ? { "Retry-After": retryAfter } : {}),
    ...(operation.idempotent
      ? {
          "Idempotent-Replayed": z
            .literal("true")
            .optional()
            .meta({ description: "Present when this is the stored answer of an earlier identical request." }),
        }
      : {}),
  });
}

/** The headers of a refusal with a status. */
export function problemHeaders(status: number) {
  const challenge = z.string().meta({
    description: "What is wrong with the credential (RFC 6750).",
    example: 'Bearer realm="routing-sandbox", error="invalid_token"',
  });
  return z.object({
    "X-Request-Id": requestId,
    "Cache-Control": noStore,
    ...(status === 401 ? { "WWW-Authenticate": challenge } : {}),
    ...(status === 400 || status === 403 ? { "WWW-Authenticate": challenge.optional() } : {}),
    ...(status === 409 || status === 429 || status === 503 ? { "Retry-After": retryAfter } : {}),
  });
}
