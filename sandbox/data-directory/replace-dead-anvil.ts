import { performance } from "node:perf_hooks";
import type { Log } from "../../server/services.ts";
import { AnvilError } from "../chain/anvil/anvil-error.ts";
import type { ChainJournal } from "../chain/journal/chain-journal.ts";
import { resumeMining } from "../chain/journal/replay.ts";
import { type ChainNode, makeAgain } from "../chain/start-chain.ts";
import { SandboxError } from "../lib/errors/sandbox-error.ts";
import type { RequestGate } from "../lib/http/request-gate.ts";
import type { SandboxJournal } from "./open-journal.ts";

/** The number of times that an Anvil is replaced before the sandbox ends: something may kill it again and again. */
const attempts = 20;

/** The parts of a running sandbox that its chain needs. */
export interface SupervisedSandbox {
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
export function replaceDeadAnvil(
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
