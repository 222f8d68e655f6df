import { randomBytes, randomUUID } from "node:crypto";
import { performance } from "node:perf_hooks";
import { toHex } from "viem";
import { awaitAutomine } from "../../relayer/node/automine.ts";
import { toNode } from "../../relayer/node/node.ts";
import type { Log } from "../../server/http/services.ts";
import type { JournaledStore } from "../../server/store/journaled/journaled-store.ts";
import { AnvilError } from "../chain/anvil/anvil-error.ts";
import { connectChain } from "../chain/connection/connect-chain.ts";
import type { ChainJournal } from "../chain/journal/chain-journal.ts";
import { resumeMining } from "../chain/journal/replay.ts";
import { type ChainNode, makeAgain, startChain } from "../chain/start-chain.ts";
import type { ClosingStack } from "../lib/closing-stack.ts";
import { SandboxError } from "../lib/errors/sandbox-error.ts";
import type { RequestGate } from "../lib/http/request-gate.ts";
import { endsWithin } from "../lib/time/timers.ts";
import type { SandboxSettings } from "../options/settings.ts";
import type { StartDeadline } from "../options/start-deadline.ts";
import { Checkpoints } from "./checkpoints.ts";
import type { DataDirectory } from "./open-data-directory.ts";
import type { SandboxJournal } from "./open-journal.ts";
import { placeState, type SavedState } from "./place-state.ts";

/** The settings of a start, and what it has opened before its chain. */
export interface ChainStart {
  settings: SandboxSettings;
  /** The snapshot file that the start loads; null for none. */
  saved: SavedState | null;
  directory: DataDirectory;
  opened: ClosingStack;
  /** The files that are needed only until the chain is kept. */
  placed: ClosingStack;
  deadline: StartDeadline;
}

/** A chain that runs, and the data directory that it is kept in; nothing of it is kept in memory. */
export interface OpenedChain extends ChainKeeper {
  chain: ChainNode;
  /** The store of the data directory's journal, which has the records too; null in memory. */
  store: JournaledStore | null;
  /** Tells the records of a data directory, or those in memory, from earlier ones about the chain of the same node; empty on its own chain. */
  recordsId: string;
  /** Has the data directory contain this sandbox from now on. */
  begin(): Promise<void>;
}

/** Opens the journal of the data directory, starts the chain that it has, or a new one, and has what happens on the chain kept. */
export async function openChain(start: ChainStart): Promise<OpenedChain> {
  const { settings, directory, opened, deadline } = start;
  const journal = await deadline.within("the store to open", directory.openJournal());
  const started = opened.use(await startFrom(journal, start));
  if (started.isOwn) await directory.nameAnvil(started.anvil.pid);
  const chain = await deadline.within("adaptChain", settings.adaptChain(started));
  if (settings.mode === "live" && journal !== null && chain.resumed)
    await chain.clock.continueFrom(journal.store.newestTime);
  return {
    ...keepChain(chain, journal, opened, settings.log),
    chain,
    store: journal?.store ?? null,
    recordsId: chain.isOwn ? "" : (journal?.recordsId ?? randomUUID()),
    begin: async () => await journal?.begin(chain),
  };
}

async function startFrom(
  journal: SandboxJournal | null,
  { settings, saved, placed, deadline }: ChainStart,
): Promise<ChainNode> {
  const { mode, seed, programs, dataDirectory, network } = settings;
  if (network !== null) {
    const connecting = connectChain(network, journal?.resumed ?? false);
    return await deadline.within("the node to respond", connecting, async (late) => await late.stop());
  }
  const { registrar } = settings.contracts;
  const kept = journal?.kept ?? null;
  deadline.waitsFor("Anvil to start");
  const made = (blocks: number, all: number) => {
    deadline.waitsFor("Anvil to make the blocks of the journal again");
    deadline.restart();
    settings.onReplay(blocks, all);
  };
  return await startChain({
    mode,
    seed,
    programs,
    // A chain that continues has its contract already.
    ...(registrar !== null && "creation" in registrar ? { registrar } : {}),
    journaled: journal !== null,
    signal: deadline.signal,
    ...(kept === null ? {} : { kept: { ...kept, made } }),
    ...(saved === null ? {} : { saved: placed.use(await placeState(saved, dataDirectory)) }),
    ...(mode === "live" ? { random: toHex(randomBytes(32)) } : {}),
  });
}

/** The time that a stop waits for the block of the last transactions, in milliseconds. */
const mineDeadlineMs = 2_000;

/** Keeps what happens on a chain. */
interface ChainKeeper {
  /** Called when the node has a new head. */
  announce(): void;
  /** Called when the start has succeeded: from then on checkpoints are written, and an Anvil that ends is replaced. */
  started(sandbox: SupervisedSandbox): void;
}

/** Has everything that happens on the chain kept in a data directory's journal, what happens until the end included. */
function keepChain(
  chain: ChainNode,
  journal: SandboxJournal | null,
  opened: ClosingStack,
  log: Log,
): ChainKeeper {
  if (chain.journal === null || journal === null) return { announce() {}, started() {} };
  const { store } = journal;
  const source = chain.journal;
  store.follow(source);
  source.keptBy(async () => {
    await store.recordChain();
    return store.chainCount;
  });
  const { anvil } = chain;
  const checkpoints = new Checkpoints(chain, source, journal, log);
  opened.defer(async () => {
    // A transaction that is still pending after this ends with the chain.
    await endsWithin(awaitAutomine(toNode(chain.request)), mineDeadlineMs);
    source.end();
    await store.recordChain().catch(async (error: unknown) => {
      // Blocks that a killed node made, and no answer relied on, are lost. Its connections may end before its end is known.
      if (anvil.isRunning && !(await endsWithin(anvil.ended, mineDeadlineMs))) throw error;
    });
    if (anvil.isRunning) await checkpoints.end();
  });
  return {
    announce() {
      source
        .announce()
        .then(() => checkpoints.writeWhenNeeded())
        .catch((error: unknown) => log.error({ causes: String(error) }, "keeping a new block"));
    },
    started(sandbox) {
      checkpoints.begin(sandbox.gate);
      replaceDeadAnvil(chain, source, journal, sandbox, log);
    },
  };
}

/** The number of times that an Anvil is replaced before the sandbox ends: something may kill it again and again. */
const attempts = 20;

/** The parts of a running sandbox that its chain needs. */
interface SupervisedSandbox {
  /** Holds requests back while a checkpoint is written, and while the chain is made again. */
  gate: RequestGate;
  /** Called, with the gate closed, when the chain was made again in another Anvil. */
  chainReplaced(): Promise<void>;
}

/**
 * Has a new Anvil take the place of one that crashes while the sandbox runs: it closes the gate to requests, replays the journal in the
 * new Anvil, pins the clock, and opens the gate. Only a sandbox with a data directory has a journal: without one, an Anvil that crashes ends
 * the sandbox.
 */
function replaceDeadAnvil(
  chain: ChainNode,
  source: ChainJournal,
  journal: SandboxJournal,
  sandbox: SupervisedSandbox,
  log: Log,
): void {
  const { store } = journal;
  chain.anvil.superviseBy(async ({ panic }, replace) => {
    log.error({ panic }, "Anvil has ended; the chain is made again from the journal");
    const began = performance.now();
    await runOnceIdle(sandbox.gate, chain, async () => {
      await source.pause();
      try {
        // The blocks and calls that are known and not on disk yet.
        await store.recordChain();
        const latest = await journal.latest();
        await replace(
          async (signal) =>
            await persist(signal, async () => await makeAgain({ ...latest, made() {} }, signal)),
        );
      } finally {
        source.resume();
      }
      await chain.clock.pin();
      await resumeMining(chain.client, store.chain);
      await sandbox.chainReplaced();
    });
    const seconds = ((performance.now() - began) / 1_000).toFixed(1);
    log.error({ seconds }, "the chain was made again, and the sandbox continues");
  });
}

/** Runs a step once nothing else is in progress: other work ends soon, as the chain does not answer. */
async function runOnceIdle(
  gate: RequestGate,
  { anvil }: ChainNode,
  step: () => Promise<void>,
): Promise<void> {
  for (;;)
    try {
      await gate.runExclusive(step);
      return;
    } catch (error) {
      const isLate = error instanceof SandboxError && error.code === "snapshot_timeout";
      if (!isLate || anvil.isStopping) throw error;
    }
}

/** Starts an Anvil that something may end meanwhile, again a few times. */
async function persist<T>(signal: AbortSignal, start: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1)
    try {
      return await start();
    } catch (error) {
      // One that was killed while it started has failed to start.
      const isLasting = error instanceof AnvilError && error.code !== "start_failed";
      if (isLasting || signal.aborted || attempt === attempts) throw error;
    }
}
