import { messageOf } from "../../protocol/coded-error.ts";

/**
 * A stack of resources that are closed in reverse order whatever happens: the part of `AsyncDisposableStack` that is
 * needed here, which Node 22 does not have.
 *
 * @example
 * await using opened = new ClosingStack();
 * opened.defer(async () => await store.close());
 * const parts = opened.move(); // nothing went wrong: they stay open
 */
export class ClosingStack implements AsyncDisposable {
  #closers: (() => PromiseLike<void> | void)[] = [];

  /** Remembers how to close something. */
  defer(close: () => PromiseLike<void> | void): void {
    this.#closers.push(close);
  }

  /** Remembers something that closes itself, and returns it. */
  use<T extends AsyncDisposable>(part: T): T {
    this.defer(() => part[Symbol.asyncDispose]());
    return part;
  }

  /** Hands everything over to a new stack; this one no longer closes anything. */
  move(): ClosingStack {
    const moved = new ClosingStack();
    moved.#closers = this.#closers;
    this.#closers = [];
    return moved;
  }

  /** Closes everything; a part that cannot be closed does not keep the others open, and its error is thrown in the end. */
  async [Symbol.asyncDispose](): Promise<void> {
    const errors: unknown[] = [];
    for (const close of this.#closers.splice(0).toReversed()) {
      try {
        await close();
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length > 1) throw new AggregateError(errors, [...new Set(errors.map(messageOf))].join(" "));
    if (errors.length === 1) throw errors[0];
  }
}
