import { RefusedTransaction } from "../binding/refused-transaction.ts";
import type { Validated } from "./request/validate.ts";
import type { Step } from "./step.ts";

/** Reports a transaction that was not accepted with all checks of its binding, for the explorer. */
export const reportRefusal: Step<Validated, Validated> = async (context, next) => {
  try {
    return await next(context);
  } catch (error) {
    if (error instanceof RefusedTransaction) {
      await context.confirmTime();
      await context.services.refused({
        at: context.now,
        request_id: String(context.response.locals["requestId"]),
        operation: context.operation.id,
        program: context.program.id,
        subject: context.id,
        step: error.step,
        code: error.code,
        detail: error.message,
        transaction_hash: error.transactionHash,
        checks: error.report.checks,
      });
    }
    throw error;
  }
};
