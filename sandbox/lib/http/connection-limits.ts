/** The limits on one client's use of a listener, so that idle connections keep no client out. */
export interface ConnectionLimits {
  /** Open connections at one time; more are closed at once. */
  connections: number;
  /** The longest time for the headers of a request, in milliseconds of real time. */
  headersMs: number;
  /** The longest time for a whole request to arrive, including its body, in milliseconds of real time. */
  requestMs: number;
}

/** The default limits. */
export const connectionLimits: ConnectionLimits = {
  connections: 1_000,
  headersMs: 10_000,
  requestMs: 30_000,
};

/** The most bytes of what is explained: typed data, for example, has no other limit. */
export const explainBytes = 1_048_576;
