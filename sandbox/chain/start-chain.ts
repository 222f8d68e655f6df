import { dirname } from "node:path";
import type { EIP1193RequestFn, Transport } from "viem";
import { z } from "zod";
import { toNode } from "../../relayer/node/node.ts";
import { findDifference } from "../../server/chain/find-difference.ts";
import type { KnownNetwork } from "../../server/http/services.ts";
import type { ChainChange } from "../../server/store/chain-changes.ts";
import { restoreAdvice } from "../../server/store/directory/checked-lines.ts";
import { inCheckout } from "../lib/package-root.ts";
import { clearInterval, setInterval } from "../lib/time/timers.ts";
import { AnvilError } from "./anvil/anvil-error.ts";
import { ReplaceableAnvil } from "./anvil/replaceable-anvil.ts";
import { type AnvilOptions, type AnvilProcess, startAnvil } from "./anvil/start-anvil.ts";
import { type ChainClient, createChainClient } from "./client/chain-client.ts";
import { Impersonation } from "./client/impersonation.ts";
import { IntervalMiner } from "./client/interval-miner.ts";
import { nodeSocket } from "./client/node-socket.ts";
import { guardReorgs, MiningGate } from "./client/reorg.ts";
import { type HeadWatcher, type WatchedHeads, watchAnvil } from "./client/watch-heads.ts";
import { type ClockMode, createClock, type SandboxClock } from "./clock/clock.ts";
import { loadRegistrarGenesis } from "./genesis/build/registrar-genesis.ts";
import { type Accounts, accounts, type DeploymentRecord, deployment } from "./genesis/deployment-record.ts";
import { loadGenesis } from "./genesis/genesis-cache.ts";
import { GenesisError } from "./genesis/genesis-error.ts";
import { type EpochOptions, openEpoch } from "./genesis/open-epoch.ts";
import { type NamedProgram, openPrograms } from "./genesis/open-programs.ts";
import { chainId, genesisTimestamp, programRoles, walletNames } from "./genesis/roles.ts";
import { ChainJournal } from "./journal/chain-journal.ts";
import { isPlaced } from "./journal/changing-methods.ts";
import { recordCalls } from "./journal/record-calls.ts";
import { replay, resumeMining } from "./journal/replay.ts";
import type { Registrar } from "./registrar/registrar.ts";
import { Filters } from "./rpc/filters.ts";
import { ownTerms, type SendingTerms } from "./sending-terms.ts";
import { unloadable } from "./unloadable.ts";

/** The options of a chain's start. */
export interface ChainOptions extends EpochOptions {
  readonly mode: ClockMode;
  /** Record everything that changes the chain, in {@link ChainNode.journal}. */
  readonly journaled?: boolean;
  /** The programs of a fresh chain; those of the genesis if not given. */
  readonly programs?: readonly NamedProgram[];
  /** The registrar contract of a fresh chain; the sandbox's own one if not given. */
  readonly registrar?: Registrar;
  /** The chain to continue with instead of a fresh one, from a snapshot file. */
  readonly saved?: SavedChain;
  /** The chain to continue with, from a data directory. */
  readonly kept?: ChainHistory;
  /** Ends the start early. */
  readonly signal?: AbortSignal;
}

/** A chain as a snapshot file has it. */
export interface SavedChain extends ChainRecord {
  /** The snapshot file, as it was named. */
  readonly file: string;
  /** The version of the Anvil that dumped its state. */
  readonly anvil: string;
  /** The absolute path of its state, as Anvil dumped it, to be read and never written. */
  readonly stateFile: string;
  /** Of the block after the latest one, in wei. */
  readonly baseFee: bigint;
  /** The offset that {@link SandboxClock.offset} returned. */
  readonly offset: number;
}

/** A chain as a data directory has it: where it came from, and what happened since. */
export interface ChainHistory extends ChainRecord {
  /** The absolute path of the state that it came from, to be read and never written. */
  readonly stateFile: string;
  readonly changes: readonly ChainChange[];
  /** The newest checkpoint that is whole; null when all blocks have to be made again. */
  readonly checkpoint: KeptCheckpoint | null;
  /** Called for each block that is made again, with how many are made, and of how many. */
  readonly made: (blocks: number, all: number) => void;
}

/** A state that a chain had on its way. */
export interface KeptCheckpoint {
  /** The absolute path of the state, to be read and never written. */
  readonly stateFile: string;
  /** The number of changes that it includes. */
  readonly position: number;
}

/**
 * A running chain with the contracts deployed on it: the sandbox's own chain, or a connection to a node. Members that only the sandbox's own chain
 * has throw `needs_own_chain` on a connection.
 */
export interface ChainNode extends AsyncDisposable {
  /** Whether it is the sandbox's own chain, which can be mined, reorganized, saved and restored. */
  readonly isOwn: boolean;
  /** The name and the currency of a node's network, for wallets; null for the sandbox's own chain, and for a network that is not known. */
  readonly network: KnownNetwork | null;
  /** Has new heads announced until that is closed. @throws AnvilSilentError when the node cannot be reached. */
  watchHeads(watcher: HeadWatcher): Promise<WatchedHeads>;
  readonly anvil: ReplaceableAnvil;
  readonly client: ChainClient;
  /** Asks the node itself, whatever `client` goes through. */
  readonly request: EIP1193RequestFn;
  readonly clock: SandboxClock;
  /** How transactions are paid for and waited for. */
  readonly terms: SendingTerms;
  /** Through which every request of `client` goes. */
  readonly gate: MiningGate;
  /** Whom the node impersonates. */
  readonly impersonation: Impersonation;
  /** The filters that callers of the chain RPC have made. */
  readonly filters: Filters;
  readonly deployment: DeploymentRecord;
  readonly accounts: Accounts;
  /** Whether the chain continues where an earlier run stopped. */
  readonly resumed: boolean;
  /** Records everything that changes the chain; null for one in memory. */
  readonly journal: ChainJournal | null;
  /** The absolute path of the state that it came from, which may be gone once the chain runs. */
  readonly stateFile: string;
  /**
   * Ends the chain.
   *
   * @throws AnvilError when Anvil does not end.
   */
  stop(): Promise<void>;
}

/** The description of a chain, without its state; on disk the amounts are decimal strings. */
export const chainRecord = z.object({ deployment, accounts });

/** The parsed form of {@link chainRecord}. */
export type ChainRecord = z.infer<typeof chainRecord>;

/**
 * Starts the sandbox's chain: a fresh one from the cached genesis, a saved one, or one that is made again from a journal; each is checked
 * against what was written down about it.
 *
 * @throws GenesisError when there is no genesis or the chain is another one; AnvilError when Anvil does not start, or makes other blocks.
 */
export async function startChain(options: ChainOptions): Promise<ChainNode> {
  const { kept, saved } = options;
  if (kept !== undefined) return await startKept(options, kept);
  return saved === undefined ? await startFresh(options) : await startSaved(options, saved);
}

async function startFresh(options: ChainOptions): Promise<ChainNode> {
  const { registrar, signal } = options;
  const genesis = await (registrar === undefined
    ? loadGenesis(signal)
    : loadRegistrarGenesis(registrar, signal));
  return await start(options, genesis.stateFile, async (client, clock) => {
    const difference = await findDifference(client, {
      ...genesis.deployment,
      epochBlock: genesis.deployment.block,
    });
    if (difference !== null)
      throw new GenesisError(
        "mismatch",
        `The prepared chain in ${dirname(genesis.stateFile)} is not the one that it describes: ${difference}. ${inCheckout() ? "Remove the folder and start again" : "Install routing-sandbox again"}.`,
      );
    const { deployment, accounts } = await openPrograms(client, genesis, options.programs ?? programRoles);
    return { deployment: await openEpoch(client, clock, deployment, options), accounts };
  });
}

async function startSaved(options: ChainOptions, saved: SavedChain): Promise<ChainNode> {
  const { stateFile, deployment, accounts, baseFee, offset } = saved;
  const starting = start(options, stateFile, async (client, clock) => {
    const difference = await findDifference(client, deployment);
    if (difference !== null)
      throw unloadable(saved, `its chain is not the one that was saved: ${difference}`);
    await client.setNextBlockBaseFeePerGas({ baseFeePerGas: baseFee });
    await clock.pin(offset);
    return { deployment, accounts };
  });
  return await starting.catch((cause: unknown) => {
    // The file of the state is a temporary one, which the user does not know.
    const reason = unusableState(cause)?.message.replace(`${stateFile}: `, "its chain: ").replace(/\.$/, "");
    throw reason === undefined ? cause : unloadable(saved, reason, cause);
  });
}

async function startKept(options: ChainOptions, kept: ChainHistory): Promise<ChainNode> {
  const { stateFile, deployment, accounts } = kept;
  return await start(options, stateFile, async (client) => {
    const difference = await findDifference(client, deployment);
    if (difference !== null)
      throw new GenesisError(
        "mismatch",
        `The chain of ${stateFile} is not the one that was kept with it: ${difference}. ${restoreAdvice}`,
      );
    return { deployment, accounts };
  });
}

async function start(
  { mode, signal, journaled = false, kept }: ChainOptions,
  stateFile: string,
  prepare: (client: ChainClient, clock: SandboxClock) => Promise<ChainRecord>,
): Promise<ChainNode> {
  const anvil = new ReplaceableAnvil(
    kept === undefined
      ? await startAnvil(anvilOptions(stateFile, journaled, signal))
      : await makeAgain(kept, signal),
  );
  const socket = nodeSocket(() => anvil.url);
  const miner = new IntervalMiner(socket.transport, () => anvil.url);
  const { transport } = miner;
  let following: NodeJS.Timeout | undefined;
  const stop = async () => {
    clearInterval(following);
    socket.close();
    await miner.stop();
    await anvil.stop();
  };
  // An abort ends every wait for an answer, here and in the steps that start later.
  signal?.addEventListener("abort", () => socket.close());
  if (signal?.aborted === true) socket.close();
  try {
    let epochBlock = kept?.deployment.epochBlock.number ?? 0;
    const beginning = () => ({ loadedBlock: anvil.loadedBlock, epochBlock });
    const bare = createChainClient(anvil.url, transport);
    const journal = journaled ? await openJournal(bare, anvil, kept) : null;
    const gate = new MiningGate(toNode(bare.request));
    miner.makeWithin(async (make) => await gate.runShared(make));
    const guarded = guardReorgs(transport, { mode, beginning, gate, ...recordIn(journal, transport) });
    const impersonation = new Impersonation();
    for (const change of kept?.changes ?? []) if (change.kind === "call") impersonation.note(change);
    const bound: { clock?: SandboxClock } = {};
    const client = createChainClient(anvil.url, impersonation.watch(beforeSending(bound, guarded)));
    const clock = keepTravels(await createClock(client, mode, journal?.offset), journal);
    Object.assign(bound, { clock });
    // A node that does not answer is asked again.
    following = setInterval(() => void clock.follow().catch(() => undefined), followMs).unref();
    const record = await prepare(client, clock);
    epochBlock = record.deployment.epochBlock.number;
    if (kept !== undefined) await resumeMining(client, kept.changes);
    const request: EIP1193RequestFn = client.request;
    const node = { anvil, client, request, clock, gate, impersonation, journal, stateFile, ...record };
    return {
      ...node,
      isOwn: true,
      network: null,
      terms: ownTerms,
      watchHeads: async (watcher) => await watchAnvil(() => anvil.url, watcher),
      filters: new Filters(),
      resumed: kept !== undefined,
      stop,
      [Symbol.asyncDispose]: stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Returns a transport whose clock, once there is one, follows the machine's before a transaction is sent or a block is made: what a block has is the chain's time for good. */
function beforeSending(bound: { clock?: SandboxClock }, transport: Transport): Transport {
  return (parameters) => {
    const inner = transport(parameters);
    const request: EIP1193RequestFn = async (question) => {
      const { method } = question;
      if (method.startsWith("eth_send") || method === "anvil_mine") await bound.clock?.follow();
      return await inner.request(question);
    };
    return { ...inner, request };
  };
}

/** Records what is called of a chain that has a journal. */
function recordIn(journal: ChainJournal | null, transport: IntervalMiner["transport"]) {
  if (journal === null) return {};
  const call = journal.call.bind(journal);
  return { recorded: { transport: recordCalls(transport, journal), call, isBetween: isPlaced } };
}

/** How often a chain follows the machine's clock, in milliseconds. */
const followMs = 1_000;

/** At how many of the latest blocks of a kept chain, which may run for long, state can be read: at as many as in a full node. */
export const readableStates = 128;

/** The number of states that Anvil is asked for; it keeps up to two less. */
export const keptStates = readableStates + 4;

function anvilOptions(stateFile: string, isKept: boolean, signal: AbortSignal | undefined): AnvilOptions {
  return {
    ...(isKept ? { keptStates } : {}),
    chainId,
    genesisTimestamp,
    unlocked: walletNames.length,
    initialState: stateFile,
    ...(signal === undefined ? {} : { signal }),
  };
}

/**
 * Starts an Anvil with the blocks of a kept chain, made again behind its newest checkpoint, or all of them if that does not lead to them.
 *
 * @throws AnvilError
 */
export async function makeAgain(
  { checkpoint, stateFile, changes, made }: Omit<ChainHistory, keyof ChainRecord>,
  signal: AbortSignal | undefined,
): Promise<AnvilProcess> {
  const makeOnce = async (from: KeptCheckpoint | null, searches: boolean) => {
    const anvil = await startAnvil(anvilOptions(from?.stateFile ?? stateFile, true, signal));
    const socket = nodeSocket(anvil.url);
    const close = () => socket.close();
    signal?.addEventListener("abort", close);
    try {
      const { request } = createChainClient(anvil.url, socket.transport);
      await replay(toNode(request), changes, {
        position: from?.position ?? 0,
        made,
        searches,
        folder: dirname(stateFile),
      });
      return anvil;
    } catch (error) {
      await anvil.stop();
      throw error;
    } finally {
      signal?.removeEventListener("abort", close);
      close();
    }
  };
  // Nearly always all calls came before the next block; to find out otherwise takes much of the node's memory.
  const make = async (from: KeptCheckpoint | null) => {
    try {
      return await makeOnce(from, false);
    } catch (error) {
      const mayDiffer = error instanceof AnvilError && error.code === "replay_failed";
      if (!mayDiffer || changes.every(({ kind }) => kind !== "call")) throw error;
      return await makeOnce(from, true);
    }
  };
  if (checkpoint !== null)
    try {
      return await make(checkpoint);
    } catch (error) {
      // A checkpoint is never needed: the journal has all blocks.
      if (signal?.aborted === true || !(error instanceof AnvilError)) throw error;
    }
  return await make(null).catch((error: unknown) => {
    const unusable = unusableState(error);
    if (unusable === null) throw error;
    throw new AnvilError(unusable.code, `${unusable.message} ${restoreAdvice}`, { cause: error });
  });
}

/** Returns the error of a state that Anvil cannot load; null for any other. */
function unusableState(error: unknown): AnvilError | null {
  return error instanceof AnvilError && error.code === "state_unusable" ? error : null;
}

/** A clock whose moves are kept before they are answered. */
function keepTravels(clock: SandboxClock, journal: ChainJournal | null): SandboxClock {
  if (journal === null) return clock;
  const kept = async (moving: Promise<number>) => {
    const time = await moving;
    await journal.announce();
    return time;
  };
  return {
    ...clock,
    travel: async (by) => await kept(clock.travel(by)),
    travelTo: async (timestamp) => await kept(clock.travelTo(timestamp)),
  };
}

/** Records what happens on a chain from now on. */
async function openJournal(
  client: ChainClient,
  { loadedBlock }: AnvilProcess,
  kept: ChainHistory | undefined,
): Promise<ChainJournal> {
  const { hash } = await client.getBlock({ blockNumber: BigInt(loadedBlock) });
  const changes = kept?.changes ?? [];
  const blocks = changes.filter((change) => change.kind === "block");
  const known = [{ number: loadedBlock, hash }, ...blocks] as const;
  return new ChainJournal(toNode(client.request), known, changes, loadedBlock);
}
