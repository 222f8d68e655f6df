import { CodedError } from "../../../protocol/coded-error.ts";

/** The reasons why a chain cannot be started from the files on disk. */
export type GenesisErrorCode =
  /** The contracts are not compiled. */
  | "not_compiled"
  /** There is no usable genesis and it could not be built. */
  | "not_built"
  /** The chain is not the one that its description tells of. */
  | "mismatch";

/**
 * A failure of the prepared chain; the message is a sentence that says what to do.
 *
 * @example
 * if (error instanceof GenesisError && error.code === "mismatch") suggestFresh();
 */
export class GenesisError extends CodedError<GenesisErrorCode> {
  override readonly name = "GenesisError";
}
