import { type Address, type Hex, recoverAddress } from "viem";
import { Recent } from "../recent.ts";

/** Half of the order of secp256k1: signatures with a higher s are malleable twins (EIP-2). */
const halfOrder = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n;

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
