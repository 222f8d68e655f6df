import { CodedError } from "../../../protocol/coded-error.ts";

/** The failures of Anvil or of the chain that it keeps. */
export type AnvilErrorCode =
  /** The native binary is not installed for this platform. */
  | "binary_missing"
  /** Anvil ended before it listened, or did not listen in time. */
  | "start_failed"
  /** Another node answered on Anvil's port. */
  | "not_ours"
  /** Anvil did not end in time after SIGTERM. */
  | "stop_failed"
  /** The journal's changes of a chain do not lead to the same blocks again. */
  | "replay_failed";

/**
 * A failure of the local chain's process; the message is a sentence that says what to do.
 *
 * @example
 * if (error instanceof AnvilError && error.code === "binary_missing") installAgain();
 */
export class AnvilError extends CodedError<AnvilErrorCode> {
  override readonly name = "AnvilError";
}
