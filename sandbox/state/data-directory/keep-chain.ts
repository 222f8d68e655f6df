import { awaitAutomine } from "../../../relayer/node/mining.ts";
import { connect } from "../../../relayer/node/node.ts";
import type { Log } from "../../../server/services.ts";
import type { ChainNode } from "../../chain/genesis/start-chain.ts";
import type { ChainJournal } from "../../chain/journal/chain-journal.ts";
import type { ClosingStack } from "../../lib/closing-stack.ts";
import { endsWithin } from "../../lib/deadline.ts";
import type { RequestGate } from "../../lib/http/request-gate.ts";
import type { SandboxJournal } from "./open-journal.ts";

/** How long a stop waits for the block of what was sent last, in milliseconds. */
const mineDeadlineMs = 2_000;

/** How many blocks a stop leaves behind the newest checkpoint: to make them again takes no longer than to load one more. */
const fewBlocks = 16;
/** How many blocks there are behind the newest checkpoint at least, and for how many in all there is one, before another is written. */
const manyBlocks = 256;
const share = 16;

/** Keeps what happens on a chain. */
export interface KeptChain {
  /** Is told that the node has a new head. */
  announce(): void;
  /** Is told that the start has succeeded: checkpoints are written from then on, while nothing else is under way. */
  started(gate: RequestGate): void;
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
  source.keptBy(async () => await store.keepChain());
  let hasEnded = false;
  void chain.anvil.exited.then(() => {
    hasEnded = true;
  });
  const checkpoints = new Checkpoints(chain, source, journal, log);
  opened.defer(async () => {
    // What is not mined yet ends with the chain.
    await endsWithin(awaitAutomine(connect(chain.request)), mineDeadlineMs);
    await store.keepChain().catch((error: unknown) => {
      // What a killed node made, and nobody could rely on, is gone with it.
      if (!hasEnded) throw error;
    });
    if (!hasEnded) await checkpoints.end();
  });
  return {
    announce() {
      source
        .announce()
        .then(() => checkpoints.writeWhenNeeded())
        .catch((error: unknown) => log.error({ causes: String(error) }, "keeping a new block"));
    },
    started: (gate) => checkpoints.begin(gate),
  };
}

/** Writes checkpoints when there are many blocks behind the newest, and at the end. */
class Checkpoints {
  readonly #chain: ChainNode;
  readonly #source: ChainJournal;
  readonly #journal: SandboxJournal;
  readonly #log: Log;
  #gate: RequestGate | null = null;
  #writing: Promise<void> | null = null;
  /** How many blocks there have to be behind the newest checkpoint when the last try has failed. */
  #againAt = 0;

  constructor(chain: ChainNode, source: ChainJournal, journal: SandboxJournal, log: Log) {
    this.#chain = chain;
    this.#source = source;
    this.#journal = journal;
    this.#log = log;
  }

  begin(gate: RequestGate): void {
    this.#gate = gate;
  }

  /** Begins to write a checkpoint if there are too many blocks behind the newest one. */
  writeWhenNeeded(): void {
    const { behind, height } = this.#source;
    const gate = this.#gate;
    if (gate === null || this.#writing !== null) return;
    if (behind < Math.max(manyBlocks, height / share, this.#againAt)) return;
    this.#writing = gate
      .runExclusive(async () => await this.#write())
      .catch((error: unknown) => {
        this.#againAt = this.#source.behind + manyBlocks;
        this.#log.info({ causes: String(error) }, "writing a checkpoint");
      })
      .finally(() => {
        this.#writing = null;
      });
  }

  /** Writes the last checkpoint. Without it the next start takes longer, and loses nothing. */
  async end(): Promise<void> {
    await this.#writing;
    if (this.#gate === null || this.#source.behind < fewBlocks) return;
    await this.#write().catch((error: unknown) =>
      this.#log.info({ causes: String(error) }, "writing a checkpoint"),
    );
  }

  async #write(): Promise<void> {
    await this.#journal.checkpoint(this.#chain, this.#source);
    this.#againAt = 0;
  }
}
