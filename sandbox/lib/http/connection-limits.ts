/** How much of a listener one client can hold, so that idle connections keep no client out. */
export interface ConnectionLimits {
  /** Open connections at one time; more are closed at once. */
  connections: number;
  /** How long the headers of a request may take, in milliseconds of real time. */
  headersMs: number;
  /** How long a whole request may take to arrive, its body included, in milliseconds of real time. */
  requestMs: number;
}

/** What holds unless something else is asked for. */
export const connectionLimits: ConnectionLimits = {
  connections: 1_000,
  headersMs: 10_000,
  requestMs: 30_000,
};
