import type { Address, Hex } from "viem";
import { recoverSigner, vOf } from "../../../protocol/messages/wallet-signature.ts";
import { Problem } from "../../errors/problem.ts";
import type { Services } from "../../services.ts";

/**
 * Accepts a wallet's signature over a digest: ECDSA with low s, or ERC-1271 where the wallet has code.
 *
 * @throws Problem signer_mismatch when another account signed, signature_invalid otherwise.
 */
export async function requireSignature(
  query: { wallet: Address; digest: Hex; signature: Hex },
  services: Services,
): Promise<void> {
  if (await services.chain.verifySignature(query)) return;
  const signer = await recoverSigner(query.digest, query.signature);
  const v = vOf(query.signature);
  if (v !== null && v !== 27 && v !== 28) throw wrongV(v);
  const at = { errors: [{ pointer: "/signature", code: "signature", detail: `must be by ${query.wallet}` }] };
  if (signer === null)
    throw new Problem(
      "signature_invalid",
      "The signature is not one over these bytes (65 bytes, low s).",
      at,
    );
  throw new Problem(
    "signer_mismatch",
    `Over these bytes the signature is one of ${signer}, not of ${query.wallet}.`,
    {
      ...at,
      members: { expected_signer: query.wallet, actual_signer: signer },
    },
  );
}

/** Some signers answer 0 or 1, the parity that EIP-1559 transactions have; contracts take it for no signature. */
function wrongV(v: number): Problem {
  const detail = `The signature has v = ${v}. An account's signature needs v = 27 or 28, its last byte 0x1b or 0x1c.`;
  return new Problem("signature_invalid", detail, {
    errors: [{ pointer: "/signature", code: "signature", detail: "must have v = 27 or 28" }],
  });
}
