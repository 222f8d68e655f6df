import { messageOf } from "../../../protocol/coded-error.ts";
import { AbortController } from "../../../protocol/globals.ts";
import { AnvilError } from "./anvil-error.ts";
import type { AnvilExit } from "./anvil-output.ts";
import type { AnvilProcess } from "./start-anvil.ts";

/** The number of replacements in a row that may end before they can be used. */
const mostFailures = 20;

/**
 * Is called when an Anvil has ended by itself. A rejection says why no other one takes its place.
 *
 * @param replace - stops what is left of the one that has ended, and has another one take its place; `start` is to end early by the signal.
 */
export type Supervise = (
  exit: AnvilExit,
  replace: (start: (signal: AbortSignal) => Promise<AnvilProcess>) => Promise<void>,
) => Promise<void>;

/**
 * An Anvil that another one takes the place of when it ends by itself; sandbox/data-directory/open-chain.ts makes the chain again
 * in it. A caller that reads its URL for each connection reaches the one that runs.
 */
export class ReplaceableAnvil implements AnvilProcess {
  #anvil: AnvilProcess;
  #supervise: Supervise | null = null;
  #replacements = 0;
  /** The number of replacements in a row that could not be used. */
  #failures = 0;
  #isRunning = true;
  #replacing: Promise<void> = Promise.resolve();
  readonly #stopping = new AbortController();
  readonly #exited = Promise.withResolvers<AnvilExit>();

  constructor(anvil: AnvilProcess) {
    this.#anvil = anvil;
    this.#watch(anvil);
  }

  get url(): string {
    return this.#anvil.url;
  }

  get port(): number {
    return this.#anvil.port;
  }

  get pid(): number {
    return this.#anvil.pid;
  }

  get loadedBlock(): number {
    return this.#anvil.loadedBlock;
  }

  /** The number of times that an Anvil that ended was replaced. */
  get replacements(): number {
    return this.#replacements;
  }

  /** Resolves when Anvil has ended and no other one has taken its place, for whatever reason; never rejects. */
  get exited(): Promise<AnvilExit> {
    return this.#exited.promise;
  }

  /** Resolves when the Anvil that runs now has ended, whether or not another one takes its place. */
  get ended(): Promise<AnvilExit> {
    return this.#anvil.exited;
  }

  /** Whether an Anvil runs that nothing is known to have ended. */
  get isRunning(): boolean {
    return this.#isRunning;
  }

  /** Whether it was asked to stop. */
  get isStopping(): boolean {
    return this.#stopping.signal.aborted;
  }

  /** Sets what is called when Anvil ends by itself from now on. */
  superviseBy(supervise: Supervise): void {
    this.#supervise = supervise;
  }

  run(): void {
    this.#anvil.run();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#anvil.stop();
    await this.#replacing.catch(() => undefined);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  #watch(anvil: AnvilProcess): void {
    void anvil.exited.then(async (exit) => {
      this.#isRunning = false;
      if (this.isStopping || this.#supervise === null) {
        this.#exited.resolve(exit);
        return;
      }
      try {
        await this.#supervise(exit, async (start) => {
          this.#replacing = this.#put(start);
          await this.#replacing;
        });
        this.#failures = 0;
      } catch (error) {
        this.#failures += 1;
        if (this.#anvil !== anvil && this.#failures < mostFailures) {
          // The other one has ended, too, or cannot be used: its end is supervised by itself.
          await this.#anvil.stop().catch(() => undefined);
          return;
        }
        this.#exited.resolve({ ...exit, failure: messageOf(error) });
      }
    });
  }

  async #put(start: (signal: AbortSignal) => Promise<AnvilProcess>): Promise<void> {
    // The guard may have ended alone.
    await this.#anvil.stop();
    // Nothing would wait for an Anvil that starts after the stop.
    if (this.isStopping)
      throw new AnvilError("start_failed", "The sandbox stops; no Anvil is started again.");
    const anvil = await start(this.#stopping.signal);
    this.#anvil = anvil;
    this.#replacements += 1;
    this.#isRunning = true;
    this.#watch(anvil);
    if (this.isStopping) await anvil.stop();
  }
}
