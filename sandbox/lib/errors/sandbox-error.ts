import { CodedError } from "../../../protocol/coded-error.ts";

/** The codes of {@link SandboxError}, and when each is thrown. */
export const sandboxErrors = {
  option_invalid: "An option does not exist, is invalid, or cannot be combined with another one.",
  argument_invalid: "A method of the sandbox got an invalid argument.",
  registrar_unusable:
    "The artifact of a registrar contract cannot be read, its interface or its hashes differ, or it does not deploy.",
  port_in_use: "Another process listens on the port.",
  data_directory_in_use: "Another running sandbox uses the data directory.",
  data_directory_mismatch: "The data directory was made with other settings.",
  start_timeout: "The start took longer than `startTimeoutMs`.",
  database_mismatch:
    "The database holds another sandbox or none, or its records are older or newer than those of the data directory.",
  database_in_use: "Another running sandbox uses the database and schema.",
  sandbox_shared: "A snapshot or a restore was refused: other processes have joined the sandbox.",
  stale_snapshot: "The snapshot is no longer valid: an older one was restored, or a reorg removed its block.",
  undone: "A restore has undone a request of the control API.",
  part_failed: "A function of `parts` threw. A restore in which it threw has changed nothing else.",
  snapshot_timeout: "A snapshot or a restore could not start in time: a request in progress did not end.",
  receiver_invalid: "Notifications cannot be sent to the receiver's URL.",
  receiver_unresolved: "The receiver's name has no address.",
  receiver_pinned: "A receiver is already pinned, or a delivery was already sent.",
  no_delivery: "No delivery arrived in time.",
  snapshot_refused:
    "A snapshot file is damaged, has a format that this version does not read, or does not match the options; or one of `parts` cannot be saved.",
  wallet_unfunded:
    "A wallet has too little ether; or, on the chain of a node, an account lacks what a given state needs.",
  transaction_dropped: "The node no longer has a wallet's transaction, or can no longer mine it.",
  not_leased: "A test used the sandbox after its end, or while another test had the lease.",
  not_awaited: "A test ended without awaiting its calls of the sandbox.",
  trace_refused: "A trace cannot be written or opened.",
  scenario_refused: "A scenario cannot be recorded, or its file cannot be played.",
  being_explored: "The sandbox was used while `explore` runs on it.",
  given_refused: "A given state cannot be created: mining is paused, or a transaction reverted or is held.",
  client_unusable:
    "The checked client fails without a fault, sends no write, or does not do the same in every run.",
  needs_own_chain:
    "The sandbox is connected to a node: only an own chain can be mined, reorganized, saved, restored or moved in time.",
  node_unusable:
    "The node of `network` serves a production network, another chain or other contracts, is not in sync, or its files cannot be used.",
  closed: "The sandbox was closed.",
} as const;

/** The codes of {@link SandboxError}. */
export type SandboxErrorCode = keyof typeof sandboxErrors;

/**
 * Thrown when the sandbox cannot do what was asked; the message has the remedy.
 *
 * @example
 * if (error instanceof SandboxError && error.code === "port_in_use") tryAnotherPort();
 */
export class SandboxError extends CodedError<SandboxErrorCode> {
  override readonly name = "SandboxError";
}
