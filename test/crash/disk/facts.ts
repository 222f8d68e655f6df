import type { ExactAnswer, RelayedRequest } from "../storefront.ts";

/** The answers that a program reports, in order. */
export type Fact =
  /** A sandbox has started. */
  | { fact: "started"; seed: string }
  /** A request is about to be sent. */
  | { fact: "sending"; request: RelayedRequest }
  | { fact: "answered"; request: RelayedRequest; answer: ExactAnswer }
  /** The chain has a block. */
  | { fact: "block"; number: number; hash: string }
  /** An account is about to be given a balance. */
  | { fact: "setting"; value: string }
  /** An account has a balance. */
  | { fact: "balance"; value: string }
  | { fact: "snapshot" }
  | { fact: "restoring" }
  | { fact: "restored" }
  | { fact: "saved"; file: string }
  /** A step was refused. */
  | { fact: "refused"; step: string; message: string }
  | { fact: "closed" };
