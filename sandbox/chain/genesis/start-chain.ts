import { existsSync } from "node:fs";
import { mkdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import type { EIP1193RequestFn } from "viem";
import { z } from "zod";
import { replaceFile } from "../../../server/replace-file.ts";
import { AnvilError } from "../anvil/anvil-error.ts";
import { type AnvilOptions, type AnvilProcess, startAnvil } from "../anvil/start-anvil.ts";
import { settleStateFile } from "../anvil/state-file.ts";
import { type ChainClient, createChainClient } from "../client/chain-client.ts";
import { nodeSocket } from "../client/node-socket.ts";
import { guardReorgs } from "../client/reorg.ts";
import { type ClockMode, createClock, type SandboxClock } from "../clock/clock.ts";
import { type Accounts, accounts, type DeploymentRecord, deployment } from "./deployment.ts";
import { loadGenesis } from "./genesis-cache.ts";
import { GenesisError } from "./genesis-error.ts";
import { type EpochOptions, openEpoch } from "./open-epoch.ts";
import { type NamedProgram, openPrograms } from "./open-programs.ts";
import { chainId, programRoles, walletNames } from "./roles.ts";
import { verifyDeployment } from "./verify-deployment.ts";

/** Which chain to start, and whether it is kept. */
export interface ChainOptions extends EpochOptions {
  readonly mode: ClockMode;
  /** The folder that keeps the chain across runs; it belongs to the chain alone. Without it nothing is written. */
  readonly folder?: string;
  /** Forget what the folder holds and begin anew. */
  readonly fresh?: boolean;
  /** The programs of a fresh chain; those of the genesis if not given. */
  readonly programs?: readonly NamedProgram[];
  /** The chain to continue with instead of a fresh one. */
  readonly saved?: SavedChain;
  /** Ends the start early. */
  readonly signal?: AbortSignal;
}

/** A chain as a snapshot file has it. */
export interface SavedChain extends ChainRecord {
  /** The absolute path of its state, as Anvil dumped it, to be read and never written. */
  readonly stateFile: string;
  /** Of the block after the latest one, in wei. */
  readonly baseFee: bigint;
  /** What {@link SandboxClock.offset} said. */
  readonly offset: number;
}

/** A running chain with the contracts deployed on it. */
export interface ChainNode extends AsyncDisposable {
  readonly anvil: AnvilProcess;
  readonly client: ChainClient;
  /** Asks the node itself, whatever stands before `client`. */
  readonly request: EIP1193RequestFn;
  readonly clock: SandboxClock;
  readonly deployment: DeploymentRecord;
  readonly accounts: Accounts;
  /** Whether the chain continues where an earlier run stopped. */
  readonly resumed: boolean;
  /**
   * Ends the chain; when it is kept, it is on disk afterwards.
   *
   * @throws AnvilError when Anvil does not end or cannot write.
   */
  stop(): Promise<void>;
}

/** What a chain's description holds beside its state; on disk the amounts are decimal strings. */
export const chainRecord = z.object({ deployment, accounts });

/** What {@link chainRecord} describes. */
export type ChainRecord = z.infer<typeof chainRecord>;

/**
 * Starts the sandbox's chain: a fresh one from the cached genesis, or the one that its folder keeps, checked against what was
 * written down about it.
 *
 * @throws GenesisError when there is no genesis or the kept chain is another one; AnvilError when Anvil does not start.
 * @example
 * await using chain = await startChain({ mode: "deterministic", seed: "checkout" });
 * chain.deployment.registrar.address;
 */
export async function startChain(options: ChainOptions): Promise<ChainNode> {
  const { folder } = options;
  const kept = folder === undefined ? undefined : await findKept(folder, options);
  if (folder !== undefined && kept !== undefined) return await resume(options, folder, kept);
  const { saved } = options;
  return saved === undefined ? await startFresh(options) : await startSaved(options, saved);
}

async function startFresh(options: ChainOptions): Promise<ChainNode> {
  const genesis = await loadGenesis(options.signal);
  return await startNew(options, genesis.stateFile, async (client, clock) => {
    await verifyDeployment(client, genesis.deployment, "remove .genesis and start again");
    const { deployment, accounts } = await openPrograms(client, genesis, options.programs ?? programRoles);
    return { deployment: await openEpoch(client, clock, deployment, options), accounts };
  });
}

async function startSaved(options: ChainOptions, saved: SavedChain): Promise<ChainNode> {
  const { stateFile, deployment, accounts, baseFee, offset } = saved;
  return await startNew(options, stateFile, async (client, clock) => {
    await verifyDeployment(client, deployment, "save the snapshot again");
    await client.setNextBlockBaseFeePerGas({ baseFeePerGas: baseFee });
    await clock.pin(offset);
    return { deployment, accounts };
  });
}

// Kept from its first block on, if it is to be kept.
async function startNew(
  options: ChainOptions,
  initialState: string,
  prepare: (client: ChainClient, clock: SandboxClock) => Promise<ChainRecord>,
): Promise<ChainNode> {
  const { folder } = options;
  if (folder !== undefined) {
    // Whatever is left there belongs to a run that nobody could use yet, or that is to be forgotten.
    await rm(folder, { recursive: true, force: true });
    await mkdir(folder, { recursive: true, mode: 0o700 });
  }
  return await start(options, folder, { initialState }, async (client, clock) => {
    const record = await prepare(client, clock);
    if (folder !== undefined)
      await replaceFile(recordFileIn(folder), JSON.stringify(z.encode(chainRecord, record)));
    return record;
  });
}

async function resume(options: ChainOptions, folder: string, record: ChainRecord): Promise<ChainNode> {
  return await start(options, folder, {}, async (client) => {
    await verifyDeployment(
      client,
      record.deployment,
      "restore the data directory, or start with --fresh to begin anew",
    );
    return record;
  });
}

async function start(
  { mode, signal }: ChainOptions,
  folder: string | undefined,
  source: Pick<AnvilOptions, "initialState">,
  prepare: (client: ChainClient, clock: SandboxClock) => Promise<ChainRecord>,
): Promise<ChainNode> {
  const anvil = await startAnvil({
    chainId,
    unlocked: walletNames.length,
    ...source,
    ...(signal === undefined ? {} : { signal }),
    ...(folder === undefined ? {} : { stateFile: stateFileIn(folder) }),
  });
  const socket = nodeSocket(anvil.url);
  const stop = async () => {
    socket.close();
    await anvil.stop();
  };
  // What waits for an answer waits no longer, neither here nor in what starts after this.
  signal?.addEventListener("abort", () => socket.close());
  if (signal?.aborted === true) socket.close();
  try {
    const client = createChainClient(
      anvil.url,
      guardReorgs(socket.transport, { loadedBlock: anvil.loadedBlock, mode }),
    );
    const request: EIP1193RequestFn = client.request;
    const clock = await createClock(
      client,
      mode,
      folder === undefined ? undefined : join(folder, "clock.json"),
    );
    const record = await prepare(client, clock);
    const { resumed } = anvil;
    return { anvil, client, request, clock, ...record, resumed, stop, [Symbol.asyncDispose]: stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

// The record of the chain that a folder keeps, or undefined when it keeps none or is to forget it.
async function findKept(
  folder: string,
  { fresh = false, signal }: ChainOptions,
): Promise<ChainRecord | undefined> {
  const file = recordFileIn(folder);
  const forgotten = fresh || !existsSync(file);
  let saved = false;
  try {
    saved = await settleStateFile(stateFileIn(folder), signal);
  } catch (error) {
    if (!(forgotten && error instanceof AnvilError && error.code === "state_lost")) throw error;
  }
  if (forgotten) return undefined;
  if (!saved) {
    throw new AnvilError(
      "state_lost",
      `The chain that ${file} describes was never saved (Anvil was killed); start with --fresh to begin anew.`,
    );
  }
  try {
    return chainRecord.parse(JSON.parse(await readFile(file, "utf8")));
  } catch (cause) {
    throw new GenesisError(
      "mismatch",
      `${file} cannot be read as the description of a chain; restore it, or start with --fresh to begin anew.`,
      { cause },
    );
  }
}

function stateFileIn(folder: string): string {
  return join(folder, "state.json");
}

function recordFileIn(folder: string): string {
  return join(folder, "chain.json");
}
