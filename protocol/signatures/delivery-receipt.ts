import { utf8ToBytes } from "@noble/hashes/utils.js";
import { base64urlnopad } from "@scure/base";
import { compactVerify } from "jose/jws/compact/verify";
import { importJWK } from "jose/key/import";
import type { Hex } from "viem";
import { TextDecoder } from "../globals.ts";
import { canonicalJson } from "../values/canonical-json.ts";
import { type Ed25519Key, ed25519Jwk, signEd25519 } from "./ed25519.ts";

/** The media type of a delivery receipt. It distinguishes a delivery receipt from anything else that the key signs. */
const receiptType = "routing-receipt+jws";

/** The receiver's statement that it accepted exactly this body of this event. */
export interface DeliveryReceipt {
  receipt_id: string;
  event_id: string;
  body_sha256: Hex;
  receiver: string;
  /** RFC 3339, UTC. */
  received_at: string;
}

/**
 * Signs a delivery receipt as a compact JWS (RFC 7515, EdDSA by RFC 8037, `typ: routing-receipt+jws`).
 *
 * @example await signDeliveryReceipt(receipt, receiptKey) // "eyJ…"
 */
export async function signDeliveryReceipt(receipt: DeliveryReceipt, key: Ed25519Key): Promise<string> {
  const header = JSON.stringify({ alg: "EdDSA", kid: key.keyId, typ: receiptType });
  const signed = [header, canonicalJson(receipt)]
    .map((part) => base64urlnopad.encode(utf8ToBytes(part)))
    .join(".");
  return `${signed}.${base64urlnopad.encode(signEd25519(key.privateKey, utf8ToBytes(signed)))}`;
}

/**
 * Verifies a delivery receipt's JWS with a public key and returns its payload.
 *
 * @throws jose's JWSSignatureVerificationFailed and related errors when it does not verify; TypeError for a JWS of another type.
 * @example await verifyDeliveryReceipt(jws, receiptKey.publicKey)
 */
export async function verifyDeliveryReceipt(jws: string, publicKey: Uint8Array): Promise<unknown> {
  const { payload, protectedHeader } = await compactVerify(
    jws,
    await importJWK(ed25519Jwk(publicKey), "EdDSA"),
    { algorithms: ["EdDSA"] },
  );
  if (protectedHeader.typ !== receiptType)
    throw new TypeError(`The JWS is of type ${protectedHeader.typ}, not a delivery receipt.`);
  return JSON.parse(new TextDecoder().decode(payload));
}
