import { isError } from "../../protocol/coded-error.ts";
import { AbortController } from "../../protocol/globals.ts";
import { SandboxError } from "../../sandbox/lib/errors/sandbox-error.ts";
import { AnswerPromise } from "./answer-promise.ts";

/** Guards a sandbox while one test has it: later calls are refused, and so are those that have no answer yet, whose effects are waited for. */
export class LeaseGuard {
  readonly #over = new AbortController();
  readonly #underWay = new Set<Promise<void>>();
  /** The functions that refuse calls without an answer yet, each with its call, in their order. */
  readonly #unanswered = new Map<() => void, { call: string; stack: string }>();
  /** The calls whose answers nothing has awaited, in their order. */
  readonly #forgotten = new Map<AnswerPromise<unknown>, string>();

  get isOver(): boolean {
    return this.#over.signal.aborted;
  }

  /** Aborts when the lease is over, with the error of what still runs then. */
  get over(): AbortSignal {
    return this.#over.signal;
  }

  /** @throws SandboxError not_leased once the lease is over. */
  require(call: string): void {
    if (this.isOver) throw notLeased(`still calls ${call}()`);
  }

  /** Notes what a call answered, which may be a promise, until that has settled. */
  note(answer: unknown): void {
    const settled = Promise.resolve(answer).then(
      () => {},
      () => {},
    );
    this.#underWay.add(settled);
    void settled.then(() => this.#underWay.delete(settled));
  }

  /**
   * Returns the answer of a call, which is refused if the lease is over first. An error of it has the line that called, which Node finds only through
   * promises of its own.
   *
   * @param guarded - the function that the test called.
   */
  untilOver<T>(call: string, answer: Promise<T>, guarded: (...args: unknown[]) => unknown): Promise<T> {
    const caller = { stack: "" };
    Error.captureStackTrace(caller, guarded);
    const shown = Promise.withResolvers<T>();
    const promise = new AnswerPromise<T>((resolve) => resolve(shown.promise));
    this.#forgotten.set(promise, call);
    promise.onceAwaited(() => void this.#forgotten.delete(promise));
    const refuse = () => {
      // The fixture has named a call that was not awaited, and the refusal must not fail the next test.
      promise.catch(() => undefined);
      shown.reject(notLeased(`still waits for ${call}()`));
    };
    this.#unanswered.set(refuse, { call, stack: caller.stack });
    const answered = () => void this.#unanswered.delete(refuse);
    void answer.then(answered, answered);
    void answer.then(shown.resolve, (error: unknown) => shown.reject(withCaller(error, caller.stack)));
    return promise;
  }

  /** Returns the error of a test that ends now and has not awaited all of its calls; null for one that has. */
  async findForgotten(): Promise<SandboxError | null> {
    // An `await` calls `then` one microtask later.
    await null;
    const unfinished = this.#unfinished().map(({ call }) => call);
    const calls = [...new Set([...this.#forgotten.values(), ...unfinished])].map((call) => `${call}()`);
    if (calls.length === 0) return null;
    return new SandboxError(
      "not_awaited",
      `The test ended without awaiting ${calls.join(", ")}. Await every call of the sandbox.`,
    );
  }

  /**
   * Returns an error that names the given states that have not finished yet, which a test that fails now may wait for, with the stack of the first;
   * null if there is none.
   */
  findUnfinished(): { message: string; stack: string } | null {
    const unfinished = this.#unfinished();
    const [first] = unfinished;
    const calls = [...new Set(unfinished.map(({ call }) => `${call}()`))];
    return first === undefined
      ? null
      : { message: `${calls.join(", ")} had not finished when the test ended.`, stack: first.stack };
  }

  /** Other calls may be meant to be unfinished, as one of a race or a receiver's; a state that is given has no use after the test. */
  #unfinished(): { call: string; stack: string }[] {
    return [...this.#unanswered.values()].filter(({ call }) => call.startsWith("given."));
  }

  /** Refuses all calls, and resolves when everything that was noted has settled; nothing is begun meanwhile. */
  async end(): Promise<void> {
    this.#over.abort(notLeased("still waits for a call that it began"));
    for (const refuse of this.#unanswered.keys()) refuse();
    await Promise.all(this.#underWay);
  }
}

/** Adds the frames of a caller to the stack of an error, unless it has them. */
function withCaller(error: unknown, stack: string): unknown {
  const frames = stack.slice(stack.indexOf("\n"));
  if (isError(error) && error.stack !== undefined && !error.stack.includes(frames.split("\n")[1] ?? ""))
    Reflect.set(error, "stack", error.stack + frames);
  return error;
}

function notLeased(does: string): SandboxError {
  return new SandboxError(
    "not_leased",
    `The test that had this sandbox is over, and ${does}; await everything that a test begins.`,
  );
}
