import type { Log } from "../../server/http/services.ts";
import type { ChainJournal } from "../chain/journal/chain-journal.ts";
import type { ChainNode } from "../chain/start-chain.ts";
import type { RequestGate } from "../lib/http/request-gate.ts";
import type { SandboxJournal } from "./open-journal.ts";

/**
 * The number of blocks that a stop leaves behind the newest checkpoint: to make them again takes no longer than to load
 * one more.
 */
export const fewBlocks = 16;
/** The smallest number of blocks behind the newest checkpoint before another is written. */
export const manyBlocks = 256;
/** The divisor of all blocks that gives this number when it is larger. */
export const share = 16;

/**
 * Writes checkpoints of the chain when there are many blocks behind the newest, and at the end. When the journal's own file is compacted is
 * decided by the store, in `CompactedJournal`.
 */
export class Checkpoints {
  readonly #chain: ChainNode;
  readonly #source: ChainJournal;
  readonly #journal: SandboxJournal;
  readonly #log: Log;
  #gate: RequestGate | null = null;
  #writing: Promise<void> | null = null;
  /** The number of blocks behind the newest checkpoint at which a failed checkpoint is tried again. */
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
