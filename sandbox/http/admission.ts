import type { IncomingMessage, RequestListener } from "node:http";

/** Lets requests in, or holds them back until everything that is under way has ended. */
export class Admission {
  #inside = 0;
  #closed: Promise<void> | null = null;
  #idle: (() => void) | null = null;

  /**
   * Wraps a handler so that its requests are counted and can be held back.
   *
   * @param continues - whether a request belongs to one that is inside already, which would wait for it in vain.
   */
  guard(handler: RequestListener, continues: (request: IncomingMessage) => boolean): RequestListener {
    return async (request, response) => {
      while (this.#closed !== null && !(this.#inside > 0 && continues(request))) await this.#closed;
      // Who gave up while it waited is gone for good: nothing would ever count it out again.
      if (response.closed) return;
      this.#inside += 1;
      response.once("close", () => this.#leave());
      handler(request, response);
    };
  }

  /** Runs work that is counted and held back as a request is. */
  async enter<T>(work: () => Promise<T>): Promise<T> {
    while (this.#closed !== null) await this.#closed;
    this.#inside += 1;
    try {
      return await work();
    } finally {
      this.#leave();
    }
  }

  /** Runs work while no request is inside; requests that come meanwhile wait. */
  async alone<T>(work: () => Promise<T>): Promise<T> {
    while (this.#closed !== null) await this.#closed;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#closed = promise;
    try {
      if (this.#inside > 0)
        await new Promise<void>((idle) => {
          this.#idle = idle;
        });
      return await work();
    } finally {
      this.#idle = null;
      this.#closed = null;
      resolve();
    }
  }

  #leave(): void {
    this.#inside -= 1;
    if (this.#inside === 0) this.#idle?.();
  }
}
