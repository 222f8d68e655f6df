import { CodedError } from "../../../protocol/coded-error.ts";

/** The codes of {@link AnvilError}. */
export type AnvilErrorCode =
  /** The native binary is not installed for this platform. */
  | "binary_missing"
  /** Anvil ended before it listened, or did not listen in time. */
  | "start_failed"
  /** Anvil cannot load the state that it was given. */
  | "state_unusable"
  /** Another node answered on Anvil's port. */
  | "not_ours"
  /** Anvil did not end in time after SIGTERM. */
  | "stop_failed"
  /** The blocks of the store's journal cannot be mined again with the same hashes. */
  | "replay_failed";

/**
 * Thrown when Anvil or its chain fails; the message says what to do.
 *
 * @example
 * if (error instanceof AnvilError && error.code === "binary_missing") installAgain();
 */
export class AnvilError extends CodedError<AnvilErrorCode> {
  override readonly name = "AnvilError";
}
