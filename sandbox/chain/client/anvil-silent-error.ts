import { BaseError } from "viem";

/** Anvil gave no answer. The message is a sentence without its address, which only the sandbox may know. */
export class AnvilSilentError extends BaseError {
  override name = "AnvilSilentError";

  constructor(reason: string) {
    super(reason, { details: reason });
    this.message = reason;
  }
}
