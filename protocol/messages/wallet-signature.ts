import {
  type Address,
  compactSignatureToSignature,
  type Hex,
  isHex,
  numberToHex,
  recoverAddress,
  serializeSignature,
  size,
  slice,
} from "viem";
import { Recent } from "../recent.ts";

/** The order of secp256k1. */
const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
/** Half of the order of secp256k1: signatures with a higher s are malleable twins (EIP-2). */
const halfOrder = order / 2n;

/** A recovery takes a millisecond, and a signature is checked again with each request that names it. */
const signers = new Recent<Promise<Address | null>>(1_000);

/**
 * Returns the v of a signature of 65 bytes r, s, v, which contracts require to be 27 or 28; null for other lengths.
 *
 * @example vOf(signature) // 27
 */
export function vOf(signature: Hex): number | null {
  return /^0x[0-9a-fA-F]{130}$/.test(signature) ? Number.parseInt(signature.slice(130), 16) : null;
}

/**
 * Recovers the account that made an ECDSA signature over a digest, accepting one form only: 65 bytes r, s, v with a low
 * s (EIP-2) and v of 27 or 28.
 *
 * @returns null for the compact form, a high s, another v or anything that does not recover.
 * @example (await recoverSigner(hashMessage(message), signature)) === wallet
 */
export async function recoverSigner(digest: Hex, signature: Hex): Promise<Address | null> {
  const v = vOf(signature);
  if (v !== 27 && v !== 28) return null;
  const s = BigInt(`0x${signature.slice(66, 130)}`);
  if (s === 0n || s > halfOrder) return null;
  return await signers.get(
    `${digest}${signature}`,
    async () => await recoverAddress({ hash: digest, signature }).catch(() => null),
  );
}

/** A form of a signature that {@link recoverSigner} does not accept: 64 bytes (EIP-2098), a high s, or a v that is neither 27 nor 28. */
export type SignatureForm = "compact" | "high_s" | "other_v";

/** A signature in the accepted form, and how the given one differs from that. */
export interface CanonicalSignature {
  /** 65 bytes r, s, v with a low s and v of 27 or 28. */
  signature: Hex;
  /** Empty when the given signature has the accepted form. */
  forms: SignatureForm[];
}

/**
 * Returns the accepted form of an ECDSA signature, by the same account over the same digest.
 *
 * @returns null for another length than 64 or 65 bytes, a v without a parity, or an r or s outside of the curve's order.
 * @example canonicalSignature(compact)?.forms // ["compact"]
 */
export function canonicalSignature(signature: Hex): CanonicalSignature | null {
  const parts = splitSignature(signature);
  if (parts === null) return null;
  const { r, yParity, form } = parts;
  const s = BigInt(parts.s);
  if ([BigInt(r), s].some((part) => part === 0n || part >= order)) return null;
  const isHigh = s > halfOrder;
  const low = numberToHex(isHigh ? order - s : s, { size: 32 });
  const forms: SignatureForm[] = [...(form === null ? [] : [form]), ...(isHigh ? (["high_s"] as const) : [])];
  return { signature: serializeSignature({ r, s: low, yParity: isHigh ? 1 - yParity : yParity }), forms };
}

/** A signature in its parts. */
interface SignatureParts {
  r: Hex;
  s: Hex;
  yParity: number;
  form: SignatureForm | null;
}

function splitSignature(signature: Hex): SignatureParts | null {
  if (!isHex(signature)) return null;
  const length = size(signature);
  if (length !== 64 && length !== 65) return null;
  const [r, second] = [slice(signature, 0, 32), slice(signature, 32, 64)];
  if (length === 64) {
    const { s, yParity = 0 } = compactSignatureToSignature({ r, yParityAndS: second });
    return { r, s, yParity, form: "compact" };
  }
  const v = vOf(signature);
  const yParity = v === null ? null : parityOf(v);
  return yParity === null ? null : { r, s: second, yParity, form: v === 27 || v === 28 ? null : "other_v" };
}

/** Returns the parity that a v has: of 27 and 28, of 0 and 1, or by EIP-155. */
function parityOf(v: number): number | null {
  if (v === 27 || v === 28) return v - 27;
  if (v < 2) return v;
  return v >= 35 ? (v - 35) % 2 : null;
}
