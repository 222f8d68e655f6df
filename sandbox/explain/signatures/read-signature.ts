import { type Address, concat, type Hex, isHex, numberToHex, size, slice } from "viem";
import {
  type CanonicalSignature,
  canonicalSignature,
  recoverSigner,
  type SignatureForm,
} from "../../../protocol/messages/wallet-signature.ts";
import type { Services } from "../../../server/http/services.ts";
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
 * @param digests - what it may have signed, the expected one first. Where another v, or another order of the same bytes, makes its signature over one of them, that is
 * the mistake.
 * @throws SandboxError argument_invalid for a signature of another length, unless its signer is a contract.
 */
export async function readSignature(
  given: unknown,
  signer: Address | null,
  digests: readonly Hex[],
  { chain }: Pick<Services, "chain">,
): Promise<ReadSignature> {
  if (typeof given !== "string" || !isHex(given) || given.length % 2 === 1)
    throw wrongSignature(`is ${showValue(given)}`);
  const signature: Hex = `0x${given.slice(2).toLowerCase()}`;
  const code = signer === null ? "none" : await chain.walletCode(signer, await chain.head());
  if (signer === null || code === "none") return (await readOfKey(signature, signer, digests)).read;
  // An account that delegates to code (EIP-7702) may sign by its own key.
  const hasForm = code === "delegated" && [64, 65].includes(size(signature));
  const ofKey = hasForm ? await readOfKey(signature, signer, digests) : null;
  if (ofKey?.isSigned) return ofKey.read;
  return {
    given: signature,
    canonical: null,
    mistakes: [],
    signerOf: async (digest) => {
      const verdict = await chain.verifySignature({ wallet: signer, digest, signature });
      return verdict === "valid" ? signer : null;
    },
  };
}

/** Reads a signature of an account's own key, and returns whether it signs one of the digests in some form. */
async function readOfKey(
  given: Hex,
  signer: Address | null,
  digests: readonly Hex[],
): Promise<{ read: ReadSignature; isSigned: boolean }> {
  const read = canonicalSignature(given);
  const length = size(given);
  if (read === null && length !== 65)
    throw wrongSignature(`has ${length} ${length === 1 ? "byte" : "bytes"}`);
  const signs = async (one: Hex, digest: Hex) => (await recoverSigner(digest, one)) === signer;
  const isSigned = async (one: Hex) =>
    (await Promise.all(digests.map(async (digest) => await signs(one, digest)))).includes(true);
  const isInOrder = read !== null && (await isSigned(read.signature));
  const meant = signer === null || isInOrder ? null : await findMeant(given, read, isSigned);
  const canonical = meant?.signature ?? read?.signature ?? null;
  const [expected] = digests;
  // Of other data, or by another account, none is right in any form.
  const isRight =
    canonical !== null && (signer === null || (expected !== undefined && (await signs(canonical, expected))));
  const instead = isRight ? ` Send ${canonical}.` : "";
  return {
    isSigned: isInOrder || meant !== null,
    read: {
      given,
      canonical,
      mistakes: (meant?.mistakes ?? mistakesOfForm(given, read)).map((mistake) => ({
        ...mistake,
        detail: mistake.detail + instead,
      })),
      signerOf: async (digest) => await recoverSigner(digest, canonical ?? given),
    },
  };
}

/** Finds the signature that a given one has the bytes of, with another v or in another order. */
async function findMeant(
  given: Hex,
  read: CanonicalSignature | null,
  isSigned: (signature: Hex) => Promise<boolean>,
): Promise<{ signature: Hex; mistakes: SignatureMistake[] } | null> {
  const inOrder = read?.signature ?? given;
  for (const [order, r, s] of ordersOf(given, inOrder))
    for (const v of [27, 28]) {
      const signature = canonicalSignature(concat([r, s, numberToHex(v)]))?.signature;
      if (signature === undefined || !(await isSigned(signature))) continue;
      if (order !== rightOrder) return { signature, mistakes: [wrongOrder(order)] };
      const ofForm = mistakesOfForm(given, read);
      const isNamed = ofForm.some(({ name }) => name === "wrong_v");
      return { signature, mistakes: isNamed ? ofForm : [...ofForm, wrongV(inOrder, v)] };
    }
  return null;
}

const rightOrder = "r, s, v";

/** Returns what r and s are in each order of the parts. */
function ordersOf(given: Hex, inOrder: Hex): [order: string, r: Hex, s: Hex][] {
  const [first, second] = [slice(given, 0, 32), slice(given, 32, 64)];
  const usual: [string, Hex, Hex][] = [
    [rightOrder, slice(inOrder, 0, 32), slice(inOrder, 32, 64)],
    ["s, r, v", second, first],
  ];
  if (size(given) !== 65) return usual;
  const [afterV, last] = [slice(given, 1, 33), slice(given, 33, 65)];
  return [
    ...usual,
    ["v, r, s", afterV, last],
    ["v, s, r", last, afterV],
    ["r, v, s", first, last],
    ["s, v, r", last, first],
  ];
}

function wrongOrder(actual: string): SignatureMistake {
  const detail = `The signature has its parts in the order ${actual}; ${rightOrder} was expected.`;
  return signatureMistake("wrong_order", rightOrder, actual, detail);
}

/** Names the v of a signature that would be the right one with another v. */
function wrongV(given: Hex, expected: number): SignatureMistake {
  const actual = Number.parseInt(given.slice(130), 16);
  const detail = `With v = ${actual}, the signature is that of another account; ${expected} was expected.`;
  return signatureMistake("wrong_v", expected, actual, detail);
}

function wrongSignature(wrong: string): SandboxError {
  return wrongOption(
    "signature",
    wrong,
    "Pass the signature of a wallet: 65 bytes (r, s and v) in hex with 0x.",
  );
}

function mistakesOfForm(given: Hex, read: CanonicalSignature | null): SignatureMistake[] {
  const v = Number.parseInt(given.slice(130), 16);
  const forms: { readonly [F in SignatureForm]: SignatureMistake } = {
    compact: signatureMistake(
      "compact_signature",
      "65 bytes",
      "64 bytes",
      `The signature is compact (EIP-2098); 65 bytes r, s, v were expected.`,
    ),
    high_s: signatureMistake(
      "high_s",
      "low s",
      "high s",
      `The signature has a high s (EIP-2); a low one was expected.`,
    ),
    other_v: signatureMistake(
      "wrong_v",
      [27, 28],
      v,
      `The signature has v = ${v}; 27 or 28 was expected, as its last byte 0x1b or 0x1c.`,
    ),
  };
  // The r or the s of no signature.
  if (read === null && (v === 27 || v === 28)) return [];
  return (read?.forms ?? ["other_v"]).map((form) => forms[form]);
}
