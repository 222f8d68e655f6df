import { awaitAutomine } from "../../../relayer/node/mining.ts";
import { connect } from "../../../relayer/node/node.ts";
import type { Log } from "../../../server/services.ts";
import { AnvilError } from "../../chain/anvil/anvil-error.ts";
import { type ChainNode, makeAgain } from "../../chain/genesis/start-chain.ts";
import { resumeMining } from "../../chain/journal/replay.ts";
import type { ClosingStack } from "../../lib/closing-stack.ts";
import { SandboxError } from "../../lib/errors/sandbox-error.ts";
import type { RequestGate } from "../../lib/http/request-gate.ts";
import { endsWithin } from "../../lib/time/deadline.ts";
import { Checkpoints } from "./checkpoints.ts";
import type { SandboxJournal } from "./open-journal.ts";

/** The time that a stop waits for the block of the last transactions, in milliseconds. */
const mineDeadlineMs = 2_000;

/** The number of times that an Anvil is replaced before the sandbox ends: something may kill it again and again. */
const attempts = 20;

/** Keeps what happens on a chain. */
export interface KeptChain {
  /** Called when the node has a new head. */
  announce(): void;
  /** Called when the start has succeeded: from then on checkpoints are written, and an Anvil that ends is replaced. */
  started(sandbox: StartedSandbox): void;
}

/** The parts of a running sandbox that its chain needs. */
export interface StartedSandbox {
  /** Holds requests back while a checkpoint is written, and while the chain is made again. */
  gate: RequestGate;
  /** Called, with the gate closed, when the chain was made again in another Anvil. */
  chainReplaced(): Promise<void>;
}

/** Has everything that happens on the chain kept in a data directory's journal, what happens until the end included. */
export function keepChain(
  chain: ChainNode,
  journal: SandboxJournal | null,
  opened: ClosingStack,
  log: Log,
): KeptChain {
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
    // What is not mined yet ends with the chain.
    await endsWithin(awaitAutomine(connect(chain.request)), mineDeadlineMs);
    source.end();
    await store.recordChain().catch(async (error: unknown) => {
      // What a killed node made, and no answer relied on, is gone with it. Its connections may end before its end is known.
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
      anvil.superviseBy(async ({ panic }, replace) => {
        log.error({ panic }, "Anvil has ended; the chain is made again from the journal");
        const began = performance.now();
        await runOnceIdle(sandbox.gate, chain, async () => {
          await source.pause();
          try {
            // What is known of it, and is not on disk yet.
            await store.recordChain();
            const latest = await journal.latest();
            await replace(
              async (signal) =>
                await persist(signal, async () => await makeAgain({ ...latest, made() {} }, signal)),
            );
          } finally {
            source.resume();
          }
          await chain.clock.pin(chain.clock.offset());
          await resumeMining(chain.client, store.chain);
          await sandbox.chainReplaced();
        });
        const seconds = ((performance.now() - began) / 1_000).toFixed(1);
        log.error({ seconds }, "the chain was made again, and the sandbox continues");
      });
    },
  };
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
