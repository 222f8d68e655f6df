/**
 * A promise that tells when something first waits for it: `await`, `catch`, `finally` and the functions of `Promise` all call `then`.
 *
 * @example
 * const answer = new AnswerPromise<number>((resolve) => resolve(1));
 * answer.onceAwaited(() => console.log("awaited"));
 */
export class AnswerPromise<T> extends Promise<T> {
  #awaited = () => {};

  /** Its `then` returns an ordinary promise. */
  static override get [Symbol.species](): PromiseConstructor {
    return Promise;
  }

  /** Calls a function when something first waits for this. */
  onceAwaited(awaited: () => void): void {
    this.#awaited = awaited;
  }

  // biome-ignore lint/suspicious/noThenProperty: it is the method of a promise
  override then<Result1 = T, Result2 = never>(
    fulfilled?: ((value: T) => Result1 | PromiseLike<Result1>) | null,
    rejected?: ((reason: unknown) => Result2 | PromiseLike<Result2>) | null,
  ): Promise<Result1 | Result2> {
    this.#awaited();
    return super.then(fulfilled, rejected);
  }
}
