import { type Address, type Hex, isHex, size } from "viem";
import {
  type CanonicalSignature,
  canonicalSignature,
  recoverSigner,
  type SignatureForm,
} from "../../../protocol/messages/wallet-signature.ts";
import type { Services } from "../../../server/services.ts";
import type { SandboxError } from "../../lib/errors/sandbox-error.ts";
import { showValue } from "../../lib/errors/show-value.ts";
import { wrongOption } from "../read-option.ts";
import { type SignatureMistake, signatureMistake } from "./mistakes.ts";

/** A signature of a wallet, and who it is compared with. */
export interface ReadSignature {
  given: Hex;
  /** The signature in the accepted form; null for one that only a contract (ERC-1271) can judge. */
  canonical: Hex | null;
  /** How the given form differs from the accepted one. */
  mistakes: SignatureMistake[];
  /** Returns the account that has signed a digest, in any form; null where none is found. */
  signerOf: (digest: Hex) => Promise<Address | null>;
}

/**
 * Reads a wallet's signature. One of a contract (ERC-1271) can have any form.
 *
 * @param signer - the account that has to sign; null where none is known.
 * @throws SandboxError argument_invalid for a signature of another length, unless its signer is a contract.
 */
export async function readSignature(
  given: unknown,
  signer: Address | null,
  { chain }: Pick<Services, "chain">,
): Promise<ReadSignature> {
  if (typeof given !== "string" || !isHex(given) || given.length % 2 === 1)
    throw wrongSignature(`is ${showValue(given)}`);
  const signature: Hex = `0x${given.slice(2).toLowerCase()}`;
  const code = signer === null ? "none" : await chain.walletCode(signer, await chain.head());
  if (signer !== null && code !== "none")
    return {
      given: signature,
      canonical: null,
      mistakes: [],
      signerOf: async (digest) => {
        const verdict = await chain.verifySignature({ wallet: signer, digest, signature });
        return verdict === "valid" ? signer : null;
      },
    };
  const read = canonicalSignature(signature);
  const length = size(signature);
  if (read === null && length !== 65)
    throw wrongSignature(`has ${length} ${length === 1 ? "byte" : "bytes"}`);
  return {
    given: signature,
    canonical: read?.signature ?? null,
    mistakes: mistakesOfForm(signature, read),
    signerOf: async (digest) => await recoverSigner(digest, read?.signature ?? signature),
  };
}

function wrongSignature(wrong: string): SandboxError {
  return wrongOption(
    "signature",
    wrong,
    "Pass the signature of a wallet: 65 bytes (r, s and v) in hex with 0x.",
  );
}

function mistakesOfForm(given: Hex, read: CanonicalSignature | null): SignatureMistake[] {
  const instead = read === null ? "" : ` Send ${read.signature}.`;
  const v = Number.parseInt(given.slice(130), 16);
  const forms: { readonly [F in SignatureForm]: SignatureMistake } = {
    compact: signatureMistake(
      "compact_signature",
      "65 bytes",
      "64 bytes",
      `The signature is compact (EIP-2098); 65 bytes r, s, v were expected.${instead}`,
    ),
    high_s: signatureMistake(
      "high_s",
      "low s",
      "high s",
      `The signature has a high s (EIP-2); a low one was expected.${instead}`,
    ),
    other_v: signatureMistake(
      "wrong_v",
      [27, 28],
      v,
      `The signature has v = ${v}; 27 or 28 was expected, as its last byte 0x1b or 0x1c.${instead}`,
    ),
  };
  return (read?.forms ?? ["other_v"]).map((form) => forms[form]);
}
