import { CodedError } from "../../../protocol/coded-error.ts";

/** What went wrong with Anvil or with the chain that it keeps. */
export type AnvilErrorCode =
  /** The native binary is not installed for this platform. */
  | "binary_missing"
  /** Anvil ended before it listened, or did not listen in time. */
  | "start_failed"
  /** Somebody else's node answered on Anvil's port. */
  | "not_ours"
  /** Another running sandbox keeps its chain in the same file. */
  | "state_in_use"
  /** Anvil did not end in time after SIGTERM. */
  | "stop_failed"
  /** The chain of the last run was not written, so it cannot be resumed. */
  | "state_lost";

/**
 * A failure of the local chain's process; the message is a sentence that says what to do.
 *
 * @example
 * if (error instanceof AnvilError && error.code === "state_in_use") chooseAnotherFolder();
 */
export class AnvilError extends CodedError<AnvilErrorCode> {
  override readonly name = "AnvilError";
}
