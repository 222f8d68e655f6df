import type { Abi, Address, Hex } from "viem";
import { fundingSourceAbi, purchaseRegistrarAbi, testUsdcAbi } from "../../protocol/abi.generated.ts";
import { type DecodedCall, functionOf } from "../../protocol/call.ts";
import { readCall } from "../../protocol/read-call.ts";
import { sameAddress } from "../../protocol/values/same-address.ts";
import type { Deployment } from "../../server/chain/deployment.ts";

/** A contract of the deployment, with the name that people use. */
export interface KnownContract {
  name: string;
  address: Address;
  abi: Abi;
}

/** The contracts that a deployment is made of. */
export function contractsOf(deployment: Deployment): KnownContract[] {
  return [
    { name: "the registrar contract", address: deployment.registrar.address, abi: purchaseRegistrarAbi },
    { name: "the token contract", address: deployment.token.address, abi: testUsdcAbi },
    { name: "the funding source contract", address: deployment.fundingSource.address, abi: fundingSourceAbi },
  ];
}

/** The contract at an address, or null for any other account. */
export function contractAt(deployment: Deployment, address: Address | null): KnownContract | null {
  return contractsOf(deployment).find((contract) => sameAddress(contract.address, address)) ?? null;
}

/** The name of an address that is none of the sandbox's contracts. */
export const unknownAddress = "an unknown address";

/** Returns the name of an address, in words. */
export function labelOf(deployment: Deployment, address: Address | null): string {
  if (address === null) return "a new contract";
  return contractAt(deployment, address)?.name ?? unknownAddress;
}

/** Reads the call of an address by its own ABI, then by those of the other contracts, whose function can have been sent there. */
export function readCallTo(address: Address | null, data: Hex, deployment: Deployment): DecodedCall | null {
  const known = contractsOf(deployment);
  const own = known.filter((contract) => sameAddress(contract.address, address));
  for (const { abi } of [...own, ...known]) {
    const read = readCall(abi, data);
    if (read !== null) return read;
  }
  return null;
}

/** Returns the function whose selector calldata begins with, also if its arguments cannot be decoded; null if no contract has it. */
export function functionCalled(data: Hex, deployment: Deployment): string | null {
  const called = contractsOf(deployment).map(({ abi }) => functionOf(abi, data)?.name);
  return called.find((name) => name !== undefined) ?? null;
}
