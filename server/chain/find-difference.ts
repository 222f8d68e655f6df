import {
  type Address,
  CallExecutionError,
  ContractFunctionExecutionError,
  ContractFunctionRevertedError,
  type Hex,
  keccak256,
  type PublicClient,
} from "viem";
import { causesOf } from "../../protocol/coded-error.ts";
import { ChainMismatchError } from "./chain-reader.ts";
import type { Deployment } from "./deployment.ts";
import { absent } from "./head-reader.ts";

/** The client of a node, as far as a chain is compared with its description. */
export type ComparingClient = Pick<PublicClient, "getBlock" | "getChainId" | "getCode">;

/** The code last seen at an address, and its hash: most chains of a process have the same contracts, and hashing them takes milliseconds. */
const hashed = new Map<Address, { code: Hex; hash: Hex }>();

/** keccak256 of the code at an address, or `undefined` when there is none. */
export async function codeHashAt(client: ComparingClient, address: Address): Promise<Hex | undefined> {
  const code = await client.getCode({ address });
  if (code === undefined) return undefined;
  const known = hashed.get(address);
  if (known?.code === code) return known.hash;
  const hash = keccak256(code);
  hashed.set(address, { code, hash });
  return hash;
}

/**
 * Compares a chain with its description: its id, the block that it is known by, and the code of the token, the registrar and the funding
 * source.
 *
 * @returns the first thing that differs, as a clause; null for none.
 */
export async function findDifference(
  client: ComparingClient,
  described: Pick<Deployment, "chainId" | "epochBlock" | "token" | "registrar" | "fundingSource">,
): Promise<string | null> {
  const { epochBlock: known } = described;
  const contracts = ["token", "registrar", "fundingSource"] as const;
  const [id, block, ...codeHashes] = await Promise.all([
    client.getChainId(),
    client.getBlock({ blockNumber: BigInt(known.number) }).catch(absent),
    ...contracts.map(async (name) => await codeHashAt(client, described[name].address)),
  ]);
  const facts: [what: string, found: number | string | undefined, expected: number | string][] = [
    ["chain id", id, described.chainId],
    [`block ${known.number}`, block?.hash, known.hash],
    ...contracts.map((name, index): [string, string | undefined, string] => [
      `code of ${name} at ${described[name].address}`,
      codeHashes[index],
      described[name].codeHash,
    ]),
  ];
  const difference = facts.find(([, found, expected]) => found !== expected);
  if (difference === undefined) return null;
  const [what, found, expected] = difference;
  return found === undefined ? `${what} is missing` : `${what} is ${found}, not ${expected}`;
}

/** Makes sure that a node serves a deployment. @throws ChainMismatchError */
export async function requireDeployment(client: ComparingClient, deployment: Deployment): Promise<void> {
  const difference = await findDifference(client, deployment);
  if (difference !== null)
    throw new ChainMismatchError(
      `The chain is not that of the deployment: ${difference}. Restore it, or start the sandbox again with a deployment that is on the chain.`,
    );
}

/**
 * Returns whether a contract has failed that was called, or has returned other data than its ABI has: there may be other code at its address now,
 * or none.
 */
export function isOfOtherCode(error: unknown): boolean {
  const has = (kind: abstract new (...args: never[]) => Error) =>
    causesOf(error).some((cause) => cause instanceof kind);
  return (
    has(ContractFunctionExecutionError) && (has(ContractFunctionRevertedError) || !has(CallExecutionError))
  );
}
