import type { Sandbox } from "../../sandbox/create-sandbox.ts";
import type { Effects } from "./effects.ts";

/** The faults of a write, in the order in which they are tried. */
export const writeFaults = [
  "answer-lost",
  "partial",
  "503-after-commit",
  "429-after-commit",
  "reset",
  "503-before-commit",
  "429-before-commit",
  "slow",
  "hold",
  "node-down",
  "reorg",
  "credential_expired",
  "credential_revoked",
] as const;

/** The faults of an event that is delivered as it was made. */
export const eventFaults = ["event-twice", "event-answer-lost", "event-order", "event-late"] as const;

/** The forgeries of an event. */
export const forgeries = [
  "forged-signature",
  "forged-body",
  "forged-bytes",
  "forged-timestamp",
  "forged-key",
] as const;

/** A fault of a case. */
export type CaseFault = (typeof writeFaults | typeof eventFaults | typeof forgeries)[number];

/** The run that a case disturbs. */
export interface DisturbedRun {
  sandbox: Sandbox;
  /** The number of the newest block before the run: a reorg must not remove it. */
  firstBlock: number;
  /** Aborted when the run has ended. */
  ended: AbortSignal;
}

/** The time between a forged event and the genuine one, or in which an event is held without a forgery. */
export interface Hold {
  /** The status of the receiver's response to the forged event; null without a response. */
  status: number | null;
  /** Its beginning and its end, in milliseconds since the start of the process. */
  from: number;
  until: number;
  /** The effects at its beginning and at its end. */
  before: Effects;
  after: Effects;
}

/** How a case ended, besides what the client did. */
export interface Disturbance {
  /** Whether the fault has acted. */
  reached: boolean;
  /** The times before each attempt to deliver the genuine event, of a case with a forged one. */
  holds: readonly Hold[];
  /** How the event of the case came, as a clause; null for other cases. */
  arrival: string | null;
}

/** One thing that can go wrong, at one place of the run. */
export interface CheckCase {
  /** The number of the write or the event of the clean run. */
  n: number;
  /** The API operation, or the type of the event. */
  operation: string;
  /** The record of the write, or the event; null if the write names none. */
  subject: string | null;
  fault: CaseFault;
  /** Prepares the fault before the run; the returned function is called after the run. */
  begin: (run: DisturbedRun) => Promise<() => Promise<Disturbance>>;
  /** Prepares a run in which the event of a forgery is held and not forged, for what the client does anyway; the forgeries of an event share it. */
  control?: CheckCase["begin"];
}
