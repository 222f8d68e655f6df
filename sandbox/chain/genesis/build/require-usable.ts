import { type Address, type Hex, zeroHash } from "viem";
import { fundingSourceAbi, purchaseRegistrarAbi } from "../../../../protocol/abi.generated.ts";
import { hashClaim } from "../../../../protocol/messages/claim.ts";
import { hashCommitment } from "../../../../protocol/messages/commitment.ts";
import { registrarDomain } from "../../../../protocol/messages/domain.ts";
import { hashFundingAuthorization } from "../../../../protocol/messages/funding-authorization.ts";
import { sameAddress } from "../../../../protocol/values/same-address.ts";
import { SandboxError } from "../../../lib/errors/sandbox-error.ts";
import type { ChainClient } from "../../client/chain-client.ts";
import type { Registrar } from "../../registrar/registrar.ts";
import { chainId } from "../roles.ts";

/**
 * Checks that a deployed registrar contract has a funding source of its own, and hashes what wallets sign as the API does.
 *
 * @returns the funding source.
 * @throws SandboxError registrar_unusable
 */
export async function requireUsable(
  client: ChainClient,
  registrar: Address,
  { name, proxy }: Registrar,
): Promise<Address> {
  const where = proxy === null ? "in the constructor" : "in initialize, which the proxy calls";
  const contract = { address: registrar, abi: purchaseRegistrarAbi } as const;
  const fundingSource = await client
    .readContract({ ...contract, functionName: "fundingSource" })
    .catch(() => null);
  if (fundingSource === null || (await client.getCode({ address: fundingSource })) === undefined)
    throw unusable(
      `${name} does not return the address of a contract from fundingSource(). Deploy a FundingSource ${where}.`,
    );
  const bound = await client
    .readContract({ address: fundingSource, abi: fundingSourceAbi, functionName: "registrar" })
    .catch(() => null);
  if (!sameAddress(bound, registrar))
    throw unusable(
      `The funding source of ${name} lets ${bound ?? "no registrar contract"} draw, not ${registrar}, the address that is called. Deploy it ${where}.`,
    );
  await requireHashes(client, registrar, name);
  return fundingSource;
}

/** Every field differs, so that exchanged fields give another hash, and has no zero byte, so that a shortened field does too. */
const bytes = (value: number, length: number): Hex =>
  `0x${value.toString(16).padStart(2, "0").repeat(length)}`;
const word = (value: number): Hex => bytes(value, 32);
const account = (value: number): Address => bytes(value, 20);
const uint256 = (value: number): bigint => BigInt(word(value));
const uint64 = (value: number): bigint => BigInt(bytes(value, 8));

const commitment = {
  program: word(1),
  purchaseRef: word(2),
  merchant: account(3),
  buyer: account(4),
  beneficiary: account(5),
  token: account(6),
  amount: uint256(7),
  termsHash: word(8),
  offerDeadline: uint64(9),
  payDeadline: uint64(10),
  claimDeadline: uint64(11),
  salt: word(12),
};
const authorization = {
  program: word(1),
  merchantRef: word(2),
  wallet: account(3),
  token: account(4),
  cap: uint256(5),
  validUntil: uint64(6),
  salt: word(7),
};
const claim = {
  commitment: word(1),
  beneficiary: account(2),
  requestedAmount: uint256(3),
  reasonHash: word(4),
};

/**
 * Checks that a deployed registrar contract hashes what wallets sign as the API does.
 *
 * @throws SandboxError registrar_unusable
 */
export async function requireHashes(client: ChainClient, address: Address, name: string): Promise<void> {
  const domain = registrarDomain(chainId, address);
  const contract = { address, abi: purchaseRegistrarAbi } as const;
  const read = async (hash: Promise<Hex>) => await hash.catch(() => zeroHash);
  const hashes: [call: string, actual: Hex, expected: Hex][] = [
    [
      "hashPurchase",
      await read(client.readContract({ ...contract, functionName: "hashPurchase", args: [commitment] })),
      hashCommitment(domain, commitment),
    ],
    [
      "hashFunding",
      await read(client.readContract({ ...contract, functionName: "hashFunding", args: [authorization] })),
      hashFundingAuthorization(domain, authorization),
    ],
    [
      "hashClaim",
      await read(client.readContract({ ...contract, functionName: "hashClaim", args: [claim] })),
      hashClaim(domain, claim),
    ],
  ];
  const wrong = hashes.filter(([, actual, expected]) => actual !== expected).map(([call]) => call);
  if (wrong.length === 0) return;
  throw unusable(
    `${name} returns other EIP-712 digests than the API from ${wrong.join(", ")}. Its domain must be name "${domain.name}", version "${domain.version}", the chain id and ${address}, and its types those of contracts/interfaces/IPurchaseRegistrar.sol.`,
  );
}

function unusable(message: string): SandboxError {
  return new SandboxError("registrar_unusable", message);
}
