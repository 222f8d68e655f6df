import { CodedError } from "../../protocol/coded-error.ts";

/** Why a sandbox cannot do what it was asked to. */
export type SandboxErrorCode =
  /** Another program listens on the port. */
  | "port_in_use"
  /** Another running sandbox uses the data directory. */
  | "data_directory_in_use"
  /** The data directory was made with other settings. */
  | "data_directory_mismatch"
  /** The start took longer than it may. */
  | "start_timeout"
  /** The database holds another sandbox, or none, or another process has the place that was asked for. */
  | "database_mismatch"
  /** Other processes use the sandbox too. */
  | "sandbox_shared"
  /** A snapshot that an older one's restore, or a reorg, has ended. */
  | "stale_snapshot"
  /** A snapshot or a restore could not begin in time, because something under way did not end. */
  | "snapshot_timeout"
  /** The receiver's URL is not one that notifications can go to. */
  | "receiver_invalid"
  /** The receiver's name has no address. */
  | "receiver_unresolved"
  /** Notifications go to a receiver that is not the sandbox's own. */
  | "foreign_receiver"
  /** No delivery arrived in time. */
  | "no_delivery"
  /** A snapshot file is damaged, of another version, or of other contracts; or it holds what was not asked for. */
  | "snapshot_refused"
  /** A wallet's transaction has left the node. */
  | "transaction_dropped"
  /** A test used the sandbox after its end, or while another test had it. */
  | "not_leased"
  /** A scenario cannot be recorded, or its file cannot be played. */
  | "scenario_refused"
  /** A given state cannot be made: mining is stopped, or a transaction reverted or is held. */
  | "given_refused"
  /** The sandbox was closed. */
  | "closed";

/**
 * A failure of the sandbox itself; the message is a sentence that says what to do.
 *
 * @example
 * if (error instanceof SandboxError && error.code === "port_in_use") tryAnotherPort();
 */
export class SandboxError extends CodedError<SandboxErrorCode> {
  override readonly name = "SandboxError";
}
