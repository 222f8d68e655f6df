import type { Address, Hex } from "viem";
import { CodedError, messageOf } from "../protocol/coded-error.ts";

/** The codes of the relayer's errors. */
export type RelayerErrorCode =
  | "gas_budget_exceeded"
  | "rpc_unavailable"
  | "rpc_refused"
  | "chain_mismatch"
  | "signer_unknown"
  | "operation_unknown"
  | "operation_not_resumable"
  | "operation_not_abandonable"
  | "fault_invalid";

/** The base class of the relayer's own errors. Errors of its interfaces (the journal, a crash) pass through unchanged. */
export abstract class RelayerError<
  Code extends RelayerErrorCode = RelayerErrorCode,
> extends CodedError<Code> {
  override get name(): string {
    return this.constructor.name;
  }
}

/** The program's gas budget does not cover the reservation. Nothing was written and nothing was sent. */
export class GasBudgetExceededError extends RelayerError<"gas_budget_exceeded"> {
  readonly program: string;
  readonly requiredWei: bigint;
  readonly availableWei: bigint;
  constructor(program: string, requiredWei: bigint, availableWei: bigint) {
    super(
      "gas_budget_exceeded",
      `The relay operation reserves ${requiredWei} wei; ${program} has ${availableWei} wei left.`,
    );
    this.program = program;
    this.requiredWei = requiredWei;
    this.availableWei = availableWei;
  }
}

/** The node did not answer; the call may or may not have taken effect. */
export class RpcUnavailableError extends RelayerError<"rpc_unavailable"> {
  constructor(method: string, cause: unknown) {
    super("rpc_unavailable", `${method} got no response: ${messageOf(cause)}`, { cause });
  }
}

/** A reorg removed the block of a relay operation's transaction, and the node did not report the transaction's current state. */
export class OutcomeUnknownError extends RpcUnavailableError {
  readonly operationId: string;
  readonly program: string;
  constructor({
    operation_id,
    program,
    block_number,
  }: {
    operation_id: string;
    program: string;
    block_number: number | null;
  }) {
    super(
      `The transaction receipt of ${operation_id}`,
      `a reorg took its block ${block_number}, and the node did not say what became of it`,
    );
    this.operationId = operation_id;
    this.program = program;
  }
}

/** The node answered with an error. */
export class RpcRefusedError extends RelayerError<"rpc_refused"> {
  /** The JSON-RPC error code. */
  readonly rpcCode: number;
  /** The node's message. */
  readonly reason: string;
  /** Revert data, if the error has it. */
  readonly data: Hex | null;
  constructor(method: string, rpcCode: number, message: string, data: Hex | null, cause: unknown) {
    super("rpc_refused", `${method} was refused (${rpcCode}): ${message}`, { cause });
    this.rpcCode = rpcCode;
    this.reason = message;
    this.data = data;
  }
}

/** The node serves another chain, or another epoch of the same chain, than the relay operation was accepted for. */
export class EpochMismatchError extends RelayerError<"chain_mismatch"> {
  readonly expectedEpoch: Hex;
  readonly actualEpoch: Hex;
  constructor(operationId: string, expectedEpoch: Hex, actualEpoch: Hex) {
    super(
      "chain_mismatch",
      `${operationId} belongs to epoch ${expectedEpoch}; the node is in epoch ${actualEpoch}.`,
    );
    this.expectedEpoch = expectedEpoch;
    this.actualEpoch = actualEpoch;
  }
}

/** The relayer has no key for this address. */
export class SignerUnknownError extends RelayerError<"signer_unknown"> {
  constructor(signer: Address) {
    super("signer_unknown", `The relayer holds no key of ${signer}.`);
  }
}

/** No relay operation has this id. */
export class RelayOperationUnknownError extends RelayerError<"operation_unknown"> {
  constructor(operationId: string) {
    super(
      "operation_unknown",
      `There is no relay operation ${operationId}. GET …/transactions and the explorer's Relayer view list the ids.`,
    );
  }
}

/** Only a relay operation that needs attention can be resumed. */
export class RelayOperationNotResumableError extends RelayerError<"operation_not_resumable"> {
  constructor(operationId: string, status: string) {
    super(
      "operation_not_resumable",
      `${operationId} is ${status}; only a relay operation that needs attention can be resumed.`,
    );
  }
}

/** Only a relay operation whose nonce was taken can be abandoned. */
export class RelayOperationNotAbandonableError extends RelayerError<"operation_not_abandonable"> {
  constructor(message: string, options?: ErrorOptions) {
    super("operation_not_abandonable", message, options);
  }
}

/** A fault that can have no effect at its point, or that the node refuses when the fault acts. */
export class FaultInvalidError extends RelayerError<"fault_invalid"> {
  constructor(message: string, options?: ErrorOptions) {
    super("fault_invalid", message, options);
  }
}
