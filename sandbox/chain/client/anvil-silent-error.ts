import { BaseError } from "viem";

/**
 * Anvil gave no answer, because of itself or because the sandbox was closed. The message is a sentence without its address, which only the sandbox may know.
 *
 * Not a CodedError, although it has a code: viem passes only its own errors on as they are.
 */
export class AnvilSilentError extends BaseError {
  override name = "AnvilSilentError";
  readonly code: "rpc_unavailable" | "closed";

  constructor(reason: string, code: AnvilSilentError["code"] = "rpc_unavailable") {
    super(reason, { details: reason });
    this.message = reason;
    this.code = code;
  }
}

/** The same of a node that is not the sandbox's own. Not a CodedError, for the same reason. */
export class NodeSilentError extends AnvilSilentError {
  override name = "NodeSilentError";
}
