import { SandboxError } from "../../sandbox/lib/errors/sandbox-error.ts";

/** Guards a sandbox while one test has it: calls after it are refused, and those that were begun in it are waited for. */
export class LeaseGuard {
  readonly #over = new AbortController();
  readonly #underWay = new Set<Promise<void>>();

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

  /** Resolves when everything that was noted has settled; nothing is begun meanwhile. */
  async end(): Promise<void> {
    this.#over.abort(notLeased("still waits for a call that it began"));
    await Promise.all(this.#underWay);
  }
}

function notLeased(does: string): SandboxError {
  return new SandboxError(
    "not_leased",
    `The test that had this sandbox is over, and ${does}; await everything that a test begins.`,
  );
}
