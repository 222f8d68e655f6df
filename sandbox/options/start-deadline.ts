import { causesOf, firstError } from "../../protocol/coded-error.ts";
import { AbortController } from "../../protocol/globals.ts";
import { AnvilError } from "../chain/anvil/anvil-error.ts";
import { AnvilSilentError, NodeSilentError } from "../chain/client/anvil-silent-error.ts";
import { SandboxError } from "../lib/errors/sandbox-error.ts";
import { clearTimeout, setTimeout, unlessAborted } from "../lib/time/timers.ts";

/** Ends a start that takes too long: whatever it waits for, and whatever it has opened. */
export class StartDeadline {
  readonly #timeoutMs: number;
  readonly #passed = new AbortController();
  #step = "the start";
  #timer: NodeJS.Timeout | undefined;

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
  }

  /** Is aborted when the deadline passes. */
  get signal(): AbortSignal {
    return this.#passed.signal;
  }

  /**
   * Runs a whole start.
   *
   * @throws SandboxError start_timeout, once everything that was opened is closed; AnvilError start_failed when Anvil does not answer, SandboxError node_unusable when a node does not.
   */
  async run<T>(start: () => Promise<T>): Promise<T> {
    this.#timer = setTimeout(() => this.#passed.abort(), this.#timeoutMs);
    try {
      return await start();
    } catch (thrown) {
      const error = firstError(thrown);
      if (this.signal.aborted) throw this.#timeout(error);
      throw describeSilence(error) ?? error;
    } finally {
      clearTimeout(this.#timer);
    }
  }

  /** Has the time begin again: a step that takes longer the more there is has come further. */
  restart(): void {
    this.#timer?.refresh();
  }

  /** Says what is waited for from now on, as in "Anvil to listen". */
  waitsFor(step: string): void {
    if (!this.signal.aborted) this.#step = step;
  }

  /**
   * Waits for a step until the deadline.
   *
   * @param close - closes what the step opens after that.
   */
  async within<T>(
    step: string,
    running: Promise<T>,
    close: (late: T) => PromiseLike<void> | void = () => {},
  ): Promise<T> {
    this.waitsFor(step);
    try {
      return await unlessAborted(this.signal, running);
    } catch (error) {
      // No caller is left who could handle what goes wrong with it.
      if (this.signal.aborted) running.then(close).catch(() => {});
      throw error;
    }
  }

  #timeout(cause: unknown): SandboxError {
    return new SandboxError(
      "start_timeout",
      `The start took longer than ${this.#timeoutMs} ms, and was waiting for ${this.#step}. Remove the cause of the delay, or allow more time with the option startTimeoutMs.`,
      { cause },
    );
  }
}

function describeSilence(error: unknown): AnvilError | SandboxError | null {
  const silence = causesOf(error).find((cause) => cause instanceof AnvilSilentError);
  if (silence === undefined) return null;
  if (silence instanceof NodeSilentError)
    return new SandboxError(
      "node_unusable",
      `The node did not respond during the start: ${silence.details} Check that it runs, and start again.`,
      { cause: error },
    );
  return new AnvilError(
    "start_failed",
    `Anvil did not respond during the start: ${silence.details} Start again; if that fails too, run routing-sandbox doctor.`,
    { cause: error },
  );
}
