import { z } from "zod";
import type { ZodOpenApiHeaderObject } from "zod-openapi";
import { limits, limitTexts } from "../limits.ts";
import { idSchema } from "../schemas/primitives.ts";

/** The key that a write is sent with. */
export const idempotencyKeySchema = z
  .string()
  .min(limits.idempotency_key_min)
  .max(limits.idempotency_key_max)
  .regex(/^[!-~]+$/)
  .meta({
    id: "IdempotencyKey",
    description:
      `Identifies the effect: a new key for each effect, the same key for each retry. ${limitTexts.idempotency_key_length} visible ASCII characters. ` +
      "A repeat with the identical body gets the first response, byte for byte.",
  });

/** The headers of a signed event (Standard Webhooks). */
export const webhookHeaders = {
  "webhook-id": idSchema("evt").meta({ description: "The event's id." }),
  "webhook-timestamp": z
    .string()
    .regex(/^[0-9]+$/)
    .meta({
      description: `Unix seconds of this delivery; at most ${limits.event_tolerance_seconds} from the sandbox's time.`,
    }),
  "webhook-signature": z.string().min(1).meta({
    description:
      "`v1,<HMAC-SHA256> v1a,<Ed25519>`, base64, over `id.timestamp.body`. The receiver verifies `v1a`.",
  }),
};

const challenge = z.string().meta({ description: "The error of the credential (RFC 6750)." });

/** The headers of answers, by the names that answers refer to them by. */
export const answerHeaders = {
  RequestId: idSchema("req").meta({ description: "Identifies this response in the service's log." }),
  CacheControl: z
    .string()
    .optional()
    .meta({ description: "`no-store`: the response is for the caller only." }),
  RetryAfter: z
    .string()
    .regex(/^[0-9]+$/)
    .optional()
    .meta({ description: "Seconds after which the identical request may succeed." }),
  IdempotentReplayed: z
    .literal("true")
    .optional()
    .meta({ description: "Present when this is the stored response to an earlier identical request." }),
  Challenge: challenge,
  /** The challenge for a status where only some of the codes are about the credential. */
  OptionalChallenge: challenge.optional(),
} satisfies { [name: string]: ZodOpenApiHeaderObject };

type HeaderReferences = { [header: string]: { $ref: string } };

function refer(names: { [header: string]: keyof typeof answerHeaders }): HeaderReferences {
  return Object.fromEntries(
    Object.entries(names).map(([header, name]) => [header, { $ref: `#/components/headers/${name}` }]),
  );
}

/** The headers of a success. */
export function successHeaders(operation: { idempotent: boolean }, status: number): HeaderReferences {
  return refer({
    "X-Request-Id": "RequestId",
    "Cache-Control": "CacheControl",
    ...(status === 202 ? { "Retry-After": "RetryAfter" } : {}),
    ...(operation.idempotent ? { "Idempotent-Replayed": "IdempotentReplayed" } : {}),
  });
}

/** The headers of a refusal with a status. */
export function problemHeaders(status: number): HeaderReferences {
  return refer({
    "X-Request-Id": "RequestId",
    "Cache-Control": "CacheControl",
    ...(status === 401 ? { "WWW-Authenticate": "Challenge" } : {}),
    ...(status === 400 || status === 403 ? { "WWW-Authenticate": "OptionalChallenge" } : {}),
    ...(status === 409 || status === 429 || status === 503 ? { "Retry-After": "RetryAfter" } : {}),
  });
}
