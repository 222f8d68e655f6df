import { concat, type Hex, hashMessage, keccak256, stringToHex } from "viem";
import { canonicalJson } from "../../../protocol/values/canonical-json.ts";
import { type Json, toJson } from "../../../protocol/values/json.ts";
import type { SignatureMistakeName } from "./mistakes.ts";
import { digestWithoutDomain, type GivenTypedData, hashesOf } from "./typed-data.ts";

/** A digest that could have been signed in place of the right one, and the mistake that this would be. */
export interface OtherDigest {
  digest: Hex;
  name: SignatureMistakeName;
  field: string;
  expected: Json;
  actual: Json;
  detail: string;
}

/**
 * Returns the digests that other ways to sign the same typed data make: with a prefix, without one, as text.
 *
 * @param texts - the JSON that could have been signed as a text.
 */
export function otherSchemes(typedData: GivenTypedData, texts: readonly string[]): OtherDigest[] {
  const { domain_separator, struct_hash, digest } = hashesOf(typedData);
  const signed = (name: SignatureMistakeName, actual: string, value: Hex): OtherDigest => ({
    digest: value,
    name,
    field: "signature",
    expected: "eth_signTypedData_v4",
    actual,
    detail: `The signature is over ${actual}; sign the typed data with eth_signTypedData_v4.`,
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
    name: "missing_domain_type",
    field: "types.EIP712Domain",
    expected: typedData.domain,
    actual,
    detail: `The signature is over ${actual}, which eth_signTypedData_v4 signs when types has no EIP712Domain; add it and sign again.`,
  };
}

function prefixed(digest: Hex): Hex {
  return hashMessage({ raw: digest });
}

/** Returns the texts that programs make of typed data, as it was given: the whole of it, and its message. */
export function jsonTexts(given: unknown): string[] {
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
export function otherDomains(typedData: GivenTypedData, contracts: readonly Hex[]): OtherDigest[] {
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
      .map((actual): OtherDigest => {
        const expected = domain[member] ?? null;
        const field = `domain.${member}`;
        return {
          digest: hashesOf({ ...typedData, domain: { ...domain, [member]: actual } }).digest,
          name,
          field,
          expected,
          actual,
          detail: `The signature is over ${field} ${JSON.stringify(actual)}; ${JSON.stringify(expected)} was expected.`,
        };
      }),
  );
}
