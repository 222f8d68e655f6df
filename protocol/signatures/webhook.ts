import { equalBytes } from "@noble/curves/utils.js";
import { hmac } from "@noble/hashes/hmac.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { concatBytes, utf8ToBytes } from "@noble/hashes/utils.js";
import { base64 } from "@scure/base";
import { Webhook } from "standardwebhooks";
import { type Ed25519Key, signEd25519, verifyEd25519 } from "./ed25519.ts";
import { decodeExact } from "./exact-encoding.ts";

/** The three headers of a signed notification (Standard Webhooks). */
export interface WebhookHeaders {
  "webhook-id": string;
  /** Unix seconds. */
  "webhook-timestamp": string;
  /** `v1,<HMAC-SHA256> v1a,<Ed25519>`, both base64. */
  "webhook-signature": string;
}

/** The keys that sign notifications: the shared secret (`whsec_…`) and the Ed25519 key. */
export interface WebhookKeys {
  secret: string;
  key: Ed25519Key;
}

/** The largest difference between a notification's timestamp and now, in seconds. */
export const webhookTolerance = 300;

/**
 * Signs a notification body with both schemes of Standard Webhooks: `v1` (HMAC) first, for standard verifiers, then `v1a` (Ed25519).
 *
 * @param timestamp - Unix seconds.
 * @param keys - the current keys, then the previous ones that receivers may still use after a rotation.
 * @example signWebhook({ id: event.id, timestamp, body }, { secret: "whsec_…", key })
 */
export function signWebhook(
  message: { id: string; timestamp: number; body: string },
  ...keys: [WebhookKeys, ...WebhookKeys[]]
): WebhookHeaders {
  const { id, timestamp, body } = message;
  const content = signedContent(id, String(timestamp), utf8ToBytes(body));
  const symmetric = keys.map(({ secret }) => new Webhook(secret).sign(id, new Date(timestamp * 1000), body));
  const asymmetric = keys.map(({ key }) => `v1a,${base64.encode(signEd25519(key.privateKey, content))}`);
  return {
    "webhook-id": id,
    "webhook-timestamp": String(timestamp),
    "webhook-signature": [...symmetric, ...asymmetric].join(" "),
  };
}

/**
 * Verifies the Ed25519 signature (`v1a`) of a notification's raw body. It does not check the timestamp.
 *
 * @returns false when no `v1a` signature of the header verifies.
 * @example verifyWebhook(headers, rawBody, notifications.publicKey)
 */
export function verifyWebhook(headers: WebhookHeaders, body: Uint8Array, publicKey: Uint8Array): boolean {
  const content = signedContent(headers["webhook-id"], headers["webhook-timestamp"], body);
  return signaturesOf(headers, "v1a").some((signature) => verifyEd25519(publicKey, content, signature));
}

/**
 * Verifies the HMAC signature (`v1`) of a notification's raw body with the shared secret. It does not check the timestamp.
 *
 * @returns false when no `v1` signature of the header verifies.
 * @example verifySharedSecret(headers, rawBody, "whsec_…")
 */
export function verifySharedSecret(headers: WebhookHeaders, body: Uint8Array, secret: string): boolean {
  const key = base64.decode(secret.replace(/^whsec_/, ""));
  const content = signedContent(headers["webhook-id"], headers["webhook-timestamp"], body);
  const expected = hmac(sha256, key, content);
  // Takes equally long wherever the first difference is.
  return signaturesOf(headers, "v1").some((signature) => equalBytes(signature, expected));
}

/**
 * Returns the shared secret of the HMAC scheme in the form of Standard Webhooks libraries.
 *
 * @example webhookSecret(deriveKey("checkout", "notifications/hmac")) // "whsec_…"
 */
export function webhookSecret(bytes: Uint8Array): string {
  return `whsec_${base64.encode(bytes)}`;
}

/** The number of signatures of a header that are verified; each costs a verification before the sender is known. */
const mostSignatures = 16;

/** The signatures of one scheme that a header lists, as bytes. */
function signaturesOf(headers: WebhookHeaders, scheme: "v1" | "v1a"): Uint8Array[] {
  const entries = headers["webhook-signature"].split(" ", mostSignatures);
  return entries.flatMap((entry) => {
    const [version, encoded] = entry.split(",");
    const signature = version === scheme && encoded !== undefined ? decodeExact(base64, encoded) : null;
    return signature === null ? [] : [signature];
  });
}

function signedContent(id: string, timestamp: string, body: Uint8Array): Uint8Array {
  // A Buffer may be of another realm, whose bytes are taken only as the plain class.
  return concatBytes(utf8ToBytes(`${id}.${timestamp}.`), new Uint8Array(body));
}
