import { type Address, type Hex, keccak256 } from "viem";
import type { ChainClient } from "../client/chain-client.ts";
import type { DeploymentRecord, GenesisDeployment } from "./deployment-record.ts";

/** The code last seen at an address, and its hash: most chains of a process have the same contracts, and hashing them takes milliseconds. */
const hashed = new Map<Address, { code: Hex; hash: Hex }>();

/** keccak256 of the code at an address, or `undefined` when there is none. */
export async function codeHashAt(client: ChainClient, address: Address): Promise<Hex | undefined> {
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
  client: ChainClient,
  described: DeploymentRecord | GenesisDeployment,
): Promise<string | null> {
  const known = "epochBlock" in described ? described.epochBlock : described.block;
  const contracts = ["token", "registrar", "fundingSource"] as const;
  const [id, block, ...codeHashes] = await Promise.all([
    client.getChainId(),
    client.getBlock({ blockNumber: BigInt(known.number) }).catch(() => undefined),
    ...contracts.map((name) => codeHashAt(client, described[name].address)),
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
  return `${what} is ${found ?? "missing"}, not ${expected}`;
}
