import { CodedError } from "../../../protocol/coded-error.ts";

/** The codes of {@link GenesisError}. */
export type GenesisErrorCode =
  /** The contracts are not compiled. */
  | "not_compiled"
  /** The prepared chain is missing and cannot be built. */
  | "not_built"
  /** The chain is not the prepared one. */
  | "mismatch";

/**
 * Thrown when the prepared chain cannot be used; the message says what to do.
 *
 * @example
 * if (error instanceof GenesisError && error.code === "mismatch") suggestFresh();
 */
export class GenesisError extends CodedError<GenesisErrorCode> {
  override readonly name = "GenesisError";
}
