/** The points of a write where a fault of the API can act. */
export const apiFaultPoints = [
  /** Credential, body and key are checked; nothing of the request is recorded. */
  "before_commit",
  /** Everything is recorded, the stored answer included; nothing is sent. Faults here also act on repeats of the request. */
  "after_commit",
] as const;

/** A point of a write where a fault of the API can act. */
export type ApiFaultPoint = (typeof apiFaultPoints)[number];

/** The points where each action of a fault of the API can act. */
export const apiFaultPlacements = {
  /** 429 `rate_limited` with Retry-After. */
  "429": apiFaultPoints,
  /** 503 `rpc_unavailable` with Retry-After. */
  "503": apiFaultPoints,
  /** The request waits; a snapshot does not wait for it. */
  delay: apiFaultPoints,
  /** The connection drops without an answer. */
  reset: apiFaultPoints,
  /** The connection drops in the middle of the answer's body. */
  partial: ["after_commit"],
  /** The process crashes. */
  crash: apiFaultPoints,
} as const satisfies Record<string, readonly ApiFaultPoint[]>;

/** The action of a fault of the API. */
export type ApiFaultAction = keyof typeof apiFaultPlacements;

/** A write that a fault can act on. */
export interface ApiFaultSubject {
  /** The operation's id, as in `executeRefund`. */
  operation: string;
  program: string;
  /** The identifier in the path; empty where the path has none. */
  subject_id: string;
  /** Whether the write takes an idempotency key. Only a fault that names the operation acts on one that takes none. */
  idempotent: boolean;
}

/** The faults of the API, which the caller of the service keeps. */
export interface ApiFaults {
  /** Returns whether a fault is left that acts on some write. */
  areLeft(): boolean;
  /** Counts one hit of the first fault that acts on a write at a point; a delay has `delay_ms`. */
  take(point: ApiFaultPoint, subject: ApiFaultSubject): { action: ApiFaultAction; delay_ms?: number } | null;
  /** Ends the process. */
  crash(): Promise<never>;
}
