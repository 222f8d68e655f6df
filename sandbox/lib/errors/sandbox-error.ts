import { CodedError } from "../../../protocol/coded-error.ts";

/** Why a sandbox cannot do what it was asked to, by the code of the error. */
export const sandboxErrors = {
  option_invalid:
    "An option of `createSandbox` or `joinSandbox` does not exist, cannot be used, or does not go with another one.",
  argument_invalid: "A method of the sandbox got an argument that it cannot use.",
  port_in_use: "Another program listens on the port.",
  data_directory_in_use: "Another running sandbox uses the data directory.",
  data_directory_mismatch: "The data directory was made with other settings.",
  start_timeout: "The start took longer than it may.",
  database_mismatch: "The database holds another sandbox, or none.",
  database_in_use: "Another running sandbox uses the database and schema.",
  sandbox_shared: "Other processes use the sandbox too.",
  stale_snapshot: "A snapshot that an older one's restore, or a reorg, has ended.",
  snapshot_timeout:
    "A snapshot or a restore could not begin in time, because something under way did not end.",
  receiver_invalid: "The receiver's URL is not one that notifications can go to.",
  receiver_unresolved: "The receiver's name has no address.",
  foreign_receiver: "Notifications go to a receiver that is not the sandbox's own.",
  no_delivery: "No delivery arrived in time.",
  snapshot_refused:
    "A snapshot file is damaged, of another version, or of other contracts; or it holds what was not asked for.",
  wallet_unfunded: "A wallet has too little ether for its transaction.",
  transaction_dropped: "A wallet's transaction has left the node.",
  not_leased: "A test used the sandbox after its end, or while another test had it.",
  scenario_refused: "A scenario cannot be recorded, or its file cannot be played.",
  given_refused: "A given state cannot be made: mining is stopped, or a transaction reverted or is held.",
  closed: "The sandbox was closed.",
} as const;

/** The codes of {@link SandboxError}. */
export type SandboxErrorCode = keyof typeof sandboxErrors;

/**
 * A failure of the sandbox itself; the message is a sentence that says what to do.
 *
 * @example
 * if (error instanceof SandboxError && error.code === "port_in_use") tryAnotherPort();
 */
export class SandboxError extends CodedError<SandboxErrorCode> {
  override readonly name = "SandboxError";
}
