/** A run inside the gate. */
export interface GateTurn {
  /**
   * Waits for a client, a receiver or a turn without holding up a snapshot: leaves the gate, runs the step, and comes
   * back.
   *
   * @param step - called when everything is undone, so that it can end early.
   * @throws UndoneError when a restore came meanwhile: what was read before it is no longer true.
   */
  releaseGate<T>(step: (undone: AbortSignal) => Promise<T>): Promise<T>;
}

/** The request gate as the service uses it: what runs inside runs before a snapshot or a restore, or after it, and never during one. */
export interface Gate {
  /** Aborts with the next restore: what changes something and has not run by then is not run. */
  readonly undone: AbortSignal;
  /** Aborts when the sandbox is reset for another test, lease or run: no request from before it may run. */
  readonly ended: AbortSignal;
  /** @param what - names the run to callers that wait for it, as in `POST /v1/routing/access`. */
  runShared<T>(what: string, work: (turn: GateTurn) => Promise<T>): Promise<T>;
}

/**
 * The sandbox was reset for another test, lease or run before a request could run.
 *
 * Not a CodedError: it is answered with a problem.
 */
export class EndedError extends Error {
  override readonly name = "EndedError";
}

/**
 * The sandbox was restored while this was in progress.
 *
 * Not a CodedError: what runs in the gate answers it with a problem.
 */
export class UndoneError extends Error {
  override readonly name = "UndoneError";
}
