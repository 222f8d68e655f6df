import type { Address, Hex } from "viem";
import { recoverSigner, vOf } from "../../protocol/messages/wallet-signature.ts";
import type { ErrorCode } from "../errors/catalogue.ts";
import { Problem } from "../errors/problem.ts";
import type { Services } from "../http/services.ts";

/** The codes of {@link requireSignature}. */
export const signatureErrors = [
  "signature_invalid",
  "signer_mismatch",
] as const satisfies readonly ErrorCode[];

/**
 * Accepts a wallet's signature over a digest: ECDSA with low s, or ERC-1271 where the wallet has code.
 *
 * @throws Problem signer_mismatch when another account signed, signature_invalid otherwise.
 */
export async function requireSignature(
  query: { wallet: Address; digest: Hex; signature: Hex },
  services: Services,
): Promise<void> {
  const { wallet, digest, signature } = query;
  const verdict = await services.chain.verifySignature(query);
  if (verdict === "valid") return;
  const signer = await recoverSigner(digest, signature);
  const v = vOf(signature);
  const byContract = verdict === "refused_by_contract";
  if (!byContract && v !== null && v !== 27 && v !== 28) throw wrongV(v);
  const errors = [{ pointer: "/signature", code: "signature", detail: `must be by ${wallet}` }];
  const refused = `The contract at ${wallet} refused the signature (isValidSignature, ERC-1271). Send one over the same bytes that this contract accepts.`;
  if (signer === null || signer === wallet) {
    const malformed = `The signature is malformed: it needs 65 bytes (r, s and v) with a low s. Sign these bytes with ${wallet}, and send the signature that the wallet returns.`;
    throw new Problem("signature_invalid", byContract ? refused : malformed, { errors });
  }
  const other = `The signature recovers to ${signer}, not to ${wallet}: another account signed, or the signed data is not that of this step. Sign exactly the data of this step with ${wallet}.`;
  throw new Problem("signer_mismatch", byContract ? refused : other, {
    errors,
    members: { expected_signer: wallet, actual_signer: signer },
  });
}

/** Some signers answer 0 or 1, the parity that EIP-1559 transactions have; contracts take it for no signature. */
function wrongV(v: number): Problem {
  const detail = `The signature has v = ${v}. An account's signature needs v = 27 or 28, its last byte 0x1b or 0x1c.`;
  return new Problem("signature_invalid", detail, {
    errors: [{ pointer: "/signature", code: "signature", detail: "must have v = 27 or 28" }],
  });
}
