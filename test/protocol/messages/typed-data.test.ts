import { SignTypedDataVersion, TypedDataUtils } from "@metamask/eth-sig-util";
import { TypedDataEncoder } from "ethers";
import { bytesToHex, type Hex, keccak256, stringToHex } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { purchaseRegistrarAbi, testUsdcAbi } from "../../../protocol/abi.generated.ts";
import { claimTypedData, claimTypes, hashClaim, hashReason } from "../../../protocol/messages/claim.ts";
import { commitmentTypedData, hashCommitment, purchaseTypes } from "../../../protocol/messages/commitment.ts";
import { registrarDomain } from "../../../protocol/messages/domain.ts";
import {
  fundingAuthorizationTypedData,
  fundingAuthorizationTypes,
  hashFundingAuthorization,
} from "../../../protocol/messages/funding-authorization.ts";
import {
  hashPermit,
  permitTypedData,
  permitTypes,
  signedPermit,
  tokenDomain,
} from "../../../protocol/messages/permit.ts";
import { type ChainNode, startChain } from "../../../sandbox/chain/start-chain.ts";
import { viewTypedData } from "../../../server/transactions/views.ts";
import { authorization, claim, commitment, domain, permit, permitDomain } from "../sample.ts";

let chain: ChainNode;
beforeAll(async () => {
  chain = await startChain({ mode: "deterministic", seed: "typed-data" });
});
afterAll(async () => await chain.stop());

test("the four digests are what they were when they were published", () => {
  expect({
    commitment: hashCommitment(domain, commitment),
    funding: hashFundingAuthorization(domain, authorization),
    claim: hashClaim(domain, claim),
    permit: hashPermit(permitDomain, permit),
  }).toMatchInlineSnapshot(`
    {
      "claim": "0x63c95994c7d0222d5922cf93e7fe4514447e21131a36de2b0f0b0c2b976c9ee8",
      "commitment": "0x7f9b90ab2c316b116b2e760d42bf68d56046fae649b443f9397d4921d29f53e0",
      "funding": "0x8cfbfa624b0985412062784eaebe1fe6658559835eb41a50967260f13a60173d",
      "permit": "0x155bde041efdc7c40e7de6fd1d0599d8a5ab008790807bd5e7a1225d0accc48d",
    }
  `);
});

test("ethers computes the same digests from the same types", () => {
  const digest = (
    types: { [name: string]: readonly { name: string; type: string }[] },
    message: object,
    of: typeof domain | typeof permitDomain = domain,
  ) =>
    TypedDataEncoder.hash(
      of,
      Object.fromEntries(Object.entries(types).map(([name, fields]) => [name, [...fields]])),
      { ...message },
    );
  expect(digest(purchaseTypes, commitment)).toBe(hashCommitment(domain, commitment));
  expect(digest(fundingAuthorizationTypes, authorization)).toBe(
    hashFundingAuthorization(domain, authorization),
  );
  expect(digest(claimTypes, claim)).toBe(hashClaim(domain, claim));
  expect(digest(permitTypes, permit, permitDomain)).toBe(hashPermit(permitDomain, permit));
});

test("the contract computes the same digests on its own chain", async () => {
  const { address } = chain.deployment.registrar;
  const here = registrarDomain(chain.deployment.chainId, address);
  const call = { address, abi: purchaseRegistrarAbi } as const;
  const { client } = chain;
  expect(await client.readContract({ ...call, functionName: "hashPurchase", args: [commitment] })).toBe(
    hashCommitment(here, commitment),
  );
  expect(await client.readContract({ ...call, functionName: "hashFunding", args: [authorization] })).toBe(
    hashFundingAuthorization(here, authorization),
  );
  expect(await client.readContract({ ...call, functionName: "hashClaim", args: [claim] })).toBe(
    hashClaim(here, claim),
  );
});

test("the contract's EIP-712 domain is the one that is signed for", async () => {
  const { address } = chain.deployment.registrar;
  const [, name, version, chainId, verifyingContract] = await chain.client.readContract({
    address,
    abi: purchaseRegistrarAbi,
    functionName: "eip712Domain",
  });
  const { chainId: expectedChainId, ...rest } = registrarDomain(chain.deployment.chainId, address);
  expect({ name, version, verifyingContract }).toEqual(rest);
  expect(chainId).toBe(BigInt(expectedChainId));
});

test("the token's EIP-712 domain and type of a permit are the ones that are signed for", async () => {
  const { address } = chain.deployment.token;
  const token = { address, abi: testUsdcAbi } as const;
  const { chainId } = chain.deployment;
  expect(await chain.client.readContract({ ...token, functionName: "DOMAIN_SEPARATOR" })).toBe(
    TypedDataEncoder.hashDomain(tokenDomain(chainId, address)),
  );
  const type = TypedDataEncoder.from({ Permit: [...permitTypes.Permit] }).encodeType("Permit");
  expect(await chain.client.readContract({ ...token, functionName: "PERMIT_TYPEHASH" })).toBe(
    keccak256(stringToHex(type)),
  );
});

test("a wallet that hashes the permit's typed data as it is shown has the same digest", () => {
  const { domain: shown, types, message } = viewTypedData(permitTypedData(permitDomain, permit));
  const { EIP712Domain = [], Permit = [] } = types;
  const data = { domain: shown, types: { EIP712Domain, Permit }, primaryType: "Permit" as const, message };
  const digest = TypedDataUtils.eip712Hash(data, SignTypedDataVersion.V4);
  expect(bytesToHex(digest)).toBe(hashPermit(permitDomain, permit));
});

test("a permit's signature is split into r, s and v, and any other length is refused", () => {
  const signature: Hex = `0x${"a1".repeat(32)}${"b2".repeat(32)}1c`;
  const expected = { deadline: 7n, v: 28, r: `0x${"a1".repeat(32)}`, s: `0x${"b2".repeat(32)}` };
  expect(signedPermit(7n, signature)).toEqual(expected);
  for (const wrong of [signature.slice(0, -2), `${signature}00`, "0x"])
    expect(() => signedPermit(7n, wrong as Hex)).toThrow("The signature of a permit is 65 bytes");
});

/** Changes one field of a message: the last hexadecimal digit, or the number by one. */
function changed<T extends object>(message: T, name: keyof T): T {
  const value: unknown = message[name];
  if (typeof value === "bigint") return { ...message, [name]: value - 1n };
  if (typeof value !== "string") throw new TypeError("A field of a message is a bigint or hex.");
  const digit = value.endsWith("1") ? "2" : "1";
  return { ...message, [name]: (value.slice(0, -1) + digit).toLowerCase() };
}

/** A message with each of its fields changed in turn, and the message of each change. */
function variants<T extends object>(message: T): T[] {
  const names = Object.keys(message) as (keyof T)[];
  return names.map((name) => changed(message, name));
}

test.each<[string, () => Hex[]]>([
  ["commitment", () => [commitment, ...variants(commitment)].map((one) => hashCommitment(domain, one))],
  [
    "funding authorization",
    () => [authorization, ...variants(authorization)].map((one) => hashFundingAuthorization(domain, one)),
  ],
  ["claim", () => [claim, ...variants(claim)].map((one) => hashClaim(domain, one))],
  ["permit", () => [permit, ...variants(permit)].map((one) => hashPermit(permitDomain, one))],
])("every field changes the digest: %s", (_name, digests) => {
  const all = digests();
  expect(new Set(all).size).toBe(all.length);
});

test("another chain and another contract have other digests", () => {
  const digests = [
    domain,
    registrarDomain(31_338, domain.verifyingContract),
    registrarDomain(31_337, commitment.token),
  ].map((one) => hashCommitment(one, commitment));
  expect(new Set(digests).size).toBe(3);
});

test("the typed data that wallets are shown names its type and domain", () => {
  expect(commitmentTypedData(domain, commitment)).toMatchObject({ primaryType: "Purchase", domain });
  expect(fundingAuthorizationTypedData(domain, authorization)).toMatchObject({
    primaryType: "FundingAuthorization",
  });
  expect(claimTypedData(domain, claim)).toMatchObject({ primaryType: "Claim", message: claim });
  expect(permitTypedData(permitDomain, permit)).toMatchObject({
    primaryType: "Permit",
    domain: permitDomain,
    message: permit,
  });
});

test("a reason is hashed over its UTF-8 bytes, and one that has none is refused", () => {
  expect(hashReason("arrivé cassé")).toMatchInlineSnapshot(
    `"0x9f684e5e3d4fdcfd31f62274230d1706b213b5c45079e140f3e7a8b08c6ca095"`,
  );
  expect(() => hashReason("\ud800")).toThrow(TypeError);
});
