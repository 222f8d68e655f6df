import { type Address, type Hex, isHex, size } from "viem";
import {
  type CanonicalSignature,
  canonicalSignature,
  recoverSigner,
} from "../../../protocol/messages/wallet-signature.ts";
import type { Services } from "../../../server/services.ts";
import { SandboxError } from "../../lib/errors/sandbox-error.ts";
import { showValue } from "../../lib/errors/show-value.ts";
import type { SignatureMistake } from "./mistakes.ts";

/** A signature of a wallet, and who it is compared with. */
export interface ReadSignature {
  given: Hex;
  /** The signature in the accepted form; null for one that only a contract (ERC-1271) can judge. */
  canonical: Hex | null;
  /** How the given form differs from the accepted one. */
  mistakes: SignatureMistake[];
  /** Returns whether the expected signer has signed a digest, in any form. */
  signs: (digest: Hex) => Promise<boolean>;
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
      signs: async (digest) =>
        (await chain.verifySignature({ wallet: signer, digest, signature })) === "valid",
      signerOf: async (digest) => {
        const verdict = await chain.verifySignature({ wallet: signer, digest, signature });
        return verdict === "valid" ? signer : null;
      },
    };
  const read = canonicalSignature(signature);
  const length = size(signature);
  if (read === null && length !== 65)
    throw wrongSignature(`has ${length} ${length === 1 ? "byte" : "bytes"}`);
  const signerOf = async (digest: Hex) => await recoverSigner(digest, read?.signature ?? signature);
  return {
    given: signature,
    canonical: read?.signature ?? null,
    mistakes: mistakesOfForm(signature, read),
    signs: async (digest) => signer !== null && (await signerOf(digest)) === signer,
    signerOf,
  };
}

function wrongSignature(wrong: string): SandboxError {
  return new SandboxError(
    "argument_invalid",
    `The option signature ${wrong}. Pass the signature of a wallet: 65 bytes (r, s and v) in hex with 0x.`,
  );
}

function mistakesOfForm(given: Hex, read: CanonicalSignature | null): SignatureMistake[] {
  const v = Number.parseInt(given.slice(130), 16);
  if (read === null) return size(given) === 65 ? [wrongV(v, null)] : [];
  const instead = `Send ${read.signature}.`;
  return read.forms.map((form): SignatureMistake => {
    if (form === "other_v") return wrongV(v, instead);
    return form === "compact"
      ? {
          name: "compact_signature",
          field: "signature",
          expected: "65 bytes",
          actual: "64 bytes",
          detail: `The signature is compact (EIP-2098); 65 bytes r, s, v were expected. ${instead}`,
        }
      : {
          name: "high_s",
          field: "signature",
          expected: "low s",
          actual: "high s",
          detail: `The signature has a high s (EIP-2); a low one was expected. ${instead}`,
        };
  });
}

function wrongV(v: number, instead: string | null): SignatureMistake {
  const detail = `The signature has v = ${v}; 27 or 28 was expected, as its last byte 0x1b or 0x1c.`;
  return {
    name: "wrong_v",
    field: "signature",
    expected: [27, 28],
    actual: v,
    detail: instead === null ? detail : `${detail} ${instead}`,
  };
}
