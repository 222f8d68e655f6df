import type { Hex } from "viem";
import { Problem } from "../errors/problem.ts";
import type { Store } from "../store/store.ts";

/** The key of what a wallet submitted for one action on one object. */
export function submissionKey(program: string, subject: string, action: string): string {
  return `${program}/${subject}/${action}`;
}

/** What a body leaves out and the wallet route may have brought. */
export interface Submitted {
  /** @throws Problem validation_failed when neither has it. */
  transactionHash(fromBody: Hex | undefined): Hex;
  /** @throws Problem validation_failed when neither has it. */
  signature(fromBody: Hex | undefined): Hex;
}

/** Reads what a wallet submitted for an action. */
export async function submitted(
  store: Store,
  program: string,
  subject: string,
  action: string,
): Promise<Submitted> {
  const found = (await store.get("submissions", submissionKey(program, subject, action)))?.value;
  return {
    transactionHash: (fromBody) => fromBody ?? found?.transaction_hash ?? missing("transaction_hash", action),
    signature: (fromBody) => fromBody ?? found?.signature ?? missing("signature", action),
  };
}

function missing(field: string, action: string): never {
  throw new Problem(
    "validation_failed",
    `${field} is missing, and the wallet route has none for ${action}.`,
    {
      errors: [
        {
          pointer: `/${field}`,
          code: "missing",
          detail: `send it, or submit the action ${action} over the wallet route`,
        },
      ],
    },
  );
}
