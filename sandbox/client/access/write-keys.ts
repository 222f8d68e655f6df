import type { Middleware } from "openapi-fetch";

/**
 * Makes the idempotency keys of a client's writes. Equal runs get equal keys. A restore takes the count of writes back; if one is in progress
 * then, the keys after it are others, so that no later write has the key of that one.
 */
export class WriteKeys {
  readonly #inProgress = new Set<string>();
  /** The number of restores during a write. */
  #overtaken = 0;

  /** Returns the key of a credential's write by its number. */
  next(prefix: string, number: number): string {
    const key = [prefix, ...(this.#overtaken === 0 ? [] : [`r${this.#overtaken}`]), number].join("-");
    this.#inProgress.add(key);
    return key;
  }

  /** To be called when the count of writes is restored. */
  restored(): void {
    if (this.#inProgress.size > 0) this.#overtaken += 1;
  }

  /** Notes when a client's write has ended. */
  readonly middleware: Middleware = {
    onResponse: ({ request }) => this.#end(request),
    onError: ({ request }) => this.#end(request),
  };

  #end({ headers }: Request): void {
    this.#inProgress.delete(headers.get("Idempotency-Key") ?? "");
  }
}
