import { awaitAutomine } from "../../relayer/node/automine.ts";
import { toNode } from "../../relayer/node/node.ts";
import type { Log } from "../../server/services.ts";
import type { ChainNode } from "../chain/start-chain.ts";
import type { ClosingStack } from "../lib/closing-stack.ts";
import { endsWithin } from "../lib/time/deadline.ts";
import { Checkpoints } from "./checkpoints.ts";
import type { SandboxJournal } from "./open-journal.ts";
import { replaceDeadAnvil, type SupervisedSandbox } from "./replace-dead-anvil.ts";

/** The time that a stop waits for the block of the last transactions, in milliseconds. */
const mineDeadlineMs = 2_000;

/** Keeps what happens on a chain. */
export interface ChainKeeper {
  /** Called when the node has a new head. */
  announce(): void;
  /** Called when the start has succeeded: from then on checkpoints are written, and an Anvil that ends is replaced. */
  started(sandbox: SupervisedSandbox): void;
}

/** Has everything that happens on the chain kept in a data directory's journal, what happens until the end included. */
export function keepChain(
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
