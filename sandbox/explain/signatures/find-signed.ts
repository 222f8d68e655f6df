import { concat, type Hex, hashMessage, keccak256, stringToHex } from "viem";
import { canonicalJson } from "../../../protocol/values/canonical-json.ts";
import { toJson } from "../../../protocol/values/json.ts";
import { enrollmentMessageOf } from "../../../server/merchants/views.ts";
import type { ExplainSources } from "../explain-transaction.ts";
import { memberMistake } from "./compare-typed-data.ts";
import { type KnownMessage, possibleMessages } from "./known-messages.ts";
import {
  type SignatureMistake,
  type SignatureMistakeName,
  signatureMistake,
  signedMember,
} from "./mistakes.ts";
import type { ReadSignature } from "./read-signature.ts";
import { digestWithoutDomain, type GivenTypedData, hashesOf, typedDataDigest } from "./typed-data.ts";

/** The data that a signature is over. */
export interface Signed {
  /** The given typed data, the one that the sandbox knows, or something else. */
  over: "given" | "known" | "other";
  /** The mistake that led to something else; null if there is none. */
  mistake: SignatureMistake | null;
}

/** A signature that is compared with a message that the sandbox knows. */
export interface ComparedSignature {
  /** The typed data as it was given: programs sign its JSON as a text. */
  raw: unknown;
  given: GivenTypedData;
  known: KnownMessage;
  signature: ReadSignature;
}

/** Finds out what the expected signer has signed, from the given typed data to other objects of the same type. */
export async function findSigned(compared: ComparedSignature, sources: ExplainSources): Promise<Signed> {
  const { given, known } = compared;
  if (await signs(compared, hashesOf(given).digest)) return { over: "given", mistake: null };
  if (await signs(compared, typedDataDigest(known.typedData))) return { over: "known", mistake: null };
  const mistake =
    (await findOtherBytes(compared, sources)) ??
    (await findEnrollment(compared, sources)) ??
    (await findOtherNonce(compared, sources)) ??
    (await findOtherMessage(compared, sources)) ??
    (await nameOtherSigner(compared, sources));
  return { over: "other", mistake };
}

/** Returns whether the expected signer has signed a digest. */
async function signs({ known, signature }: ComparedSignature, digest: Hex | null): Promise<boolean> {
  return digest !== null && (await signature.signerOf(digest)) === known.signer;
}

type Search = (compared: ComparedSignature, sources: ExplainSources) => Promise<SignatureMistake | null>;

const findOtherBytes: Search = async (compared, { services }) => {
  const { raw, given, known } = compared;
  const { token, registrar, fundingSource } = services.deployment;
  const contracts = [token, registrar, fundingSource].map(({ address }) => address);
  const isKnown = typedDataDigest(known.typedData) !== null;
  const others: OtherDigest[] = [
    ...otherSchemes(given, jsonTexts(raw)),
    ...(isKnown ? otherSchemes(known.typedData, jsonTexts(known.typedData)) : []),
    ...(isKnown ? otherDomains(known.typedData, contracts) : []),
  ];
  for (const { digest, mistake } of others) if (await signs(compared, digest)) return mistake;
  return null;
};

/** A merchant's wallet signs the enrollment text, and the commitment signer the funding authorization. */
const findEnrollment: Search = async ({ given, known, signature }, { services }) => {
  const { merchant, signer } = known;
  if (merchant === undefined) return null;
  const { id, wallet } = merchant;
  if ((await signature.signerOf(hashesOf(given).digest)) === wallet)
    return signatureMistake(
      "typed_data_for_enrollment",
      signer,
      wallet,
      `The wallet of ${id} has signed the funding authorization; to enroll, it signs the enrollment text with personal_sign.`,
    );
  const enrollment = hashMessage(enrollmentMessageOf(merchant, services));
  const detail = `The signature is the one by which the wallet of ${id} enrolls (personal_sign); send it to POST …/enrollment.`;
  return (await signature.signerOf(enrollment)) === wallet
    ? signatureMistake("other_message", signer, wallet, detail)
    : null;
};

/** The number of used nonces that are tried. */
const triedNonces = 16n;

const findOtherNonce: Search = async (compared, { services }) => {
  const { type, typedData } = compared.known;
  if (type !== "Permit") return null;
  const next = BigInt(String(typedData.message["nonce"]));
  for (let nonce = next + 1n; nonce >= 0n && nonce >= next - triedNonces; nonce -= 1n) {
    const message = { ...typedData.message, nonce: nonce.toString() };
    if (!(await signs(compared, typedDataDigest({ ...typedData, message })))) continue;
    const member = { name: "message.nonce", expected: next.toString(), actual: nonce.toString() };
    return memberMistake(member, services.deployment);
  }
  return null;
};

const findOtherMessage: Search = async (compared, { services }) => {
  const { given, known } = compared;
  const possible = [
    ...(await possibleMessages(known.type, services)).filter(({ id }) => id !== known.id),
    // Who claims or pays has the commitment too.
    ...(await possibleMessages("Purchase", services)).filter(({ id }) => id === known.id),
  ];
  for (const { id, complete } of possible) {
    const { typedData, about } = await complete(given.message);
    const detail = `The signature is over ${about}; ${known.about} was expected.`;
    if (await signs(compared, typedDataDigest(typedData)))
      return signatureMistake("other_message", known.id, id, detail);
  }
  return null;
};

const nameOtherSigner: Search = async ({ given, known, signature }, { labels }) => {
  const { signer, signedBy } = known;
  const actual = await signature.signerOf(hashesOf(given).digest);
  const by = actual === null ? "no account" : labels.describe(actual);
  const detail =
    signature.canonical === null && signature.mistakes.length === 0
      ? `The contract at ${signer} refuses the signature over this typed data (isValidSignature, ERC-1271). Sign it again, or sign the data that was meant.`
      : `This typed data was signed by ${by}; ${signedBy} (${signer}) was expected. Either the account is wrong, or it signed different data.`;
  return signatureMistake("wrong_signer", signer, actual, detail);
};

/** A digest that could have been signed in place of the right one, and the mistake that this would be. */
interface OtherDigest {
  digest: Hex;
  mistake: SignatureMistake;
}

/**
 * Returns the digests that other ways to sign the same typed data make: with a prefix, without one, as text.
 *
 * @param texts - the JSON that could have been signed as a text.
 */
function otherSchemes(typedData: GivenTypedData, texts: readonly string[]): OtherDigest[] {
  const { domain_separator, struct_hash, digest } = hashesOf(typedData);
  const signed = (name: SignatureMistakeName, actual: string, value: Hex): OtherDigest => ({
    digest: value,
    mistake: signatureMistake(
      name,
      "eth_signTypedData_v4",
      actual,
      `The signature is over ${actual}; sign the typed data with eth_signTypedData_v4.`,
    ),
  });
  return [
    signed("eth_sign", "the digest with the prefix of eth_sign and personal_sign", prefixed(digest)),
    ...[digest, digest.slice(2)].map((text) =>
      signed("personal_sign", "the digest as a text (personal_sign)", hashMessage(text)),
    ),
    ...texts.flatMap((text) => [
      signed("personal_sign", "the JSON as a text (personal_sign)", hashMessage(text)),
      signed("unprefixed_hash", "the hash of the JSON", keccak256(stringToHex(text))),
    ]),
    signed("unprefixed_hash", "the struct hash, without 0x1901 and the domain separator", struct_hash),
    signed(
      "eth_sign",
      "the struct hash with the prefix of eth_sign and personal_sign",
      prefixed(struct_hash),
    ),
    signed(
      "unprefixed_hash",
      "domain separator and struct hash, without 0x1901",
      keccak256(concat([domain_separator, struct_hash])),
    ),
    signed("unprefixed_hash", "the hash of the digest", keccak256(digest)),
    withoutDomain(typedData),
  ];
}

function withoutDomain(typedData: GivenTypedData): OtherDigest {
  const actual = "an empty domain";
  return {
    digest: digestWithoutDomain(typedData),
    mistake: {
      name: "missing_domain_type",
      field: "types.EIP712Domain",
      expected: typedData.domain,
      actual,
      detail: `The signature is over ${actual}, which eth_signTypedData_v4 signs when types has no EIP712Domain; add it and sign again.`,
    },
  };
}

function prefixed(digest: Hex): Hex {
  return hashMessage({ raw: digest });
}

/** Returns the texts that programs make of typed data, as it was given: the whole of it, and its message. */
function jsonTexts(given: unknown): string[] {
  const message = typeof given === "object" && given !== null && "message" in given ? given.message : {};
  return [given, message].flatMap((value) => {
    const json = toJson(value);
    return [JSON.stringify(json), JSON.stringify(json, null, 2), canonicalJson(json)];
  });
}

/** The chain ids that wallets and tools use, besides the sandbox's. */
const chainIds = [1, 10, 137, 1337, 8453, 31337, 42161, 43114, 80002, 84532, 421614, 11155111];

const versions = ["1", "2", "1.0", "1.0.0", "0", ""];

/** Returns the digests of typed data whose domain differs in one member, with values that are mistaken often. */
function otherDomains(typedData: GivenTypedData, contracts: readonly Hex[]): OtherDigest[] {
  const { domain } = typedData;
  const members: [member: string, name: SignatureMistakeName, values: readonly (string | number)[]][] = [
    ["chainId", "wrong_chain_id", chainIds],
    ["verifyingContract", "wrong_verifying_contract", contracts],
    ["version", "wrong_domain_version", versions],
    [
      "name",
      "wrong_domain_name",
      ["PurchaseRegistrar", "Purchase Registrar", "USDC", "USD Coin", "TestUSDC", "Routing", ""],
    ],
  ];
  return members.flatMap(([member, name, values]) =>
    values
      .filter((value) => value !== domain[member])
      .map((actual) => ({
        digest: hashesOf({ ...typedData, domain: { ...domain, [member]: actual } }).digest,
        mistake: signedMember(name, { name: `domain.${member}`, expected: domain[member] ?? null, actual }),
      })),
  );
}
