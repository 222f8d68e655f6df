import { encodePacked, type Hex, keccak256, slice, stringToHex, zeroAddress } from "viem";
import type { ChainClient } from "../client/chain-client.ts";
import type { SandboxClock } from "../clock/clock.ts";
import type { DeploymentRecord, GenesisDeployment } from "./deployment-record.ts";
import { GenesisError } from "./genesis-error.ts";

/** The options that make a fresh chain unlike any other one. */
export interface EpochOptions {
  readonly seed: string;
  /** A random value, without which two chains with one seed and one start time are equal. */
  readonly random?: Hex;
  /** Unix time of the epoch block in seconds; the clock's next second (`deterministic`) or now (`live`) if not given. */
  readonly startTime?: number;
}

/**
 * Mines the block that a fresh chain is known by and derives the chain's epoch from it: the seed is the block's coinbase, so one
 * seed gives one chain, and no old transaction or transaction receipt passes for one of another chain with the same id.
 *
 * @throws GenesisError `mismatch` when the chain does not end with the genesis; ClockError for a start time in its past.
 */
export async function openEpoch(
  client: ChainClient,
  clock: SandboxClock,
  genesis: GenesisDeployment,
  { seed, random = "0x", startTime }: EpochOptions,
): Promise<DeploymentRecord> {
  const entropy = keccak256(
    encodePacked(["string", "bytes32", "bytes"], ["epoch", keccak256(stringToHex(seed)), random]),
  );
  await client.setCoinbase({ address: slice(entropy, 12) });
  if (startTime === undefined) await client.mine({ blocks: 1 });
  else await clock.travelTo(startTime);
  await client.setCoinbase({ address: zeroAddress });

  const { number, hash, parentHash } = await client.getBlock({ blockTag: "latest" });
  if (parentHash !== genesis.block.hash) {
    throw new GenesisError("mismatch", "The chain continued before its epoch began. Start again.");
  }
  const { block: _, ...contracts } = genesis;
  return { ...contracts, epoch: epochOf(contracts, hash), epochBlock: { number: Number(number), hash } };
}

/** Returns the epoch of a chain: what names it, and no other with the same id. */
export function epochOf(
  {
    chainId,
    token,
    registrar,
    fundingSource,
  }: Pick<DeploymentRecord, "chainId" | "token" | "registrar" | "fundingSource">,
  epochBlock: Hex,
): Hex {
  return keccak256(
    encodePacked(
      ["uint256", "bytes32", "address", "bytes32", "address", "bytes32", "address", "bytes32"],
      [
        BigInt(chainId),
        epochBlock,
        registrar.address,
        registrar.codeHash,
        token.address,
        token.codeHash,
        fundingSource.address,
        fundingSource.codeHash,
      ],
    ),
  );
}
