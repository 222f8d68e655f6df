import { SandboxError } from "../lib/errors/sandbox-error.ts";
import type { SentCall } from "../wallets/test-wallet.ts";

/**
 * Returns what a wallet sent, when it took effect.
 *
 * @throws SandboxError given_refused when it reverted.
 */
export function succeed<T extends SentCall>(sent: T): T {
  if (sent.receipt.status === "success") return sent;
  throw new SandboxError(
    "given_refused",
    `The transaction ${sent.transaction_hash} of ${sent.receipt.from}, ${sent.call.function}, reverted${sent.revert === null ? "" : ` with ${sent.revert}`}. See routing-sandbox explain ${sent.transaction_hash}.`,
  );
}
