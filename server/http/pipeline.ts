import type { Request } from "express";
import { KeyedMutex } from "../../relayer/keyed-mutex.ts";
import { RefusedTransaction } from "../errors/refused-transaction.ts";
import type { Answer } from "./answers/answer.ts";
import { retryChanged, runHandler, waitForTurn } from "./commit.ts";
import { failAfterCommit, failBeforeCommit } from "./faults/apply-api-fault.ts";
import type { Operation } from "./operation.ts";
import { holdKey, repeatAnswer } from "./repeat-answer.ts";
import { authenticate, authorize, type Called, findProgram, nameOf } from "./request/authenticate.ts";
import { readKey, receiveBody } from "./request/read-body.ts";
import { startClock } from "./request/request-time.ts";
import { type Validated, validateRequest } from "./request/validate.ts";
import { runInGate } from "./run-in-gate.ts";
import type { Services } from "./services.ts";
import { type Asked, firstStep, type Step } from "./step.ts";

/** Counts a request once, however often it starts over. @throws Problem rate_limited */
const limitRate: Step<Called, Called> = async (context, next) => {
  const { caller, now, once, services } = context;
  if (!once.isCounted && services.rateLimiter.hasLimit && isLimited(context)) {
    await context.confirmTime();
    once.isCounted = true;
    services.rateLimiter.count(nameOf(caller), now);
  }
  return await next(context);
};

function isLimited({ caller, services }: Called): boolean {
  if (caller.kind === "account") return caller.account.isLimited;
  if (caller.kind !== "credential") return true;
  return services.settings.accounts.find(({ id }) => id === caller.credential.account)?.isLimited ?? true;
}

const forwarded = ["authorization", "content-type", "idempotency-key", "traceparent", "tracestate"];

/** Has the process that leads answer a request whose effect only that one may begin. */
const forwardToLeader: Step<Validated, Validated> = async (context, next) => {
  const { operation, request, services } = context;
  if (!operation.effect) return await next(context);
  const { method, originalUrl: path } = request;
  const headers = Object.fromEntries(forwarded.map((name) => [name, String(request.headers[name] ?? "")]));
  const handed = { method, path, headers, body: context.rawBody };
  const elsewhere = await context.releaseGate(async () => await services.forwardToLeader(handed));
  return elsewhere ?? (await next(context));
};

/** Reports a transaction that was not accepted with all checks of its binding, for the explorer. */
const reportRefusal: Step<Validated, Validated> = async (context, next) => {
  try {
    return await next(context);
  } catch (error) {
    if (error instanceof RefusedTransaction) {
      await context.confirmTime();
      const use = await context.services.store.get("used_transactions", error.transactionHash);
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
        is_used: use !== undefined,
        checks: error.report.checks,
      });
    }
    throw error;
  }
};

/** The steps of a request, in the order in which they run; each is described at its function. */
const pipeline = firstStep(runInGate)
  .add(startClock)
  .add(authenticate)
  .add(limitRate)
  .add(authorize)
  .add(findProgram)
  .add(readKey)
  .add(receiveBody)
  .add(validateRequest)
  .add(forwardToLeader)
  .add(reportRefusal)
  .add(failAfterCommit)
  .add(repeatAnswer)
  .add(waitForTurn)
  .add(failBeforeCommit)
  .add(retryChanged)
  .add(holdKey);

/**
 * Returns the function that answers the requests of an API.
 *
 * @param operations - the whole table, for operations that describe it.
 */
export function answerRequests(services: Services, operations: readonly Operation[]) {
  const shared = {
    services,
    operations,
    underWay: new Map<string, Promise<void>>(),
    turns: new KeyedMutex(),
  };
  return async (operation: Operation, request: Request, response: Asked["response"]): Promise<Answer> =>
    await pipeline.run(
      { ...shared, operation, request, response, once: { body: null, isCounted: false, numbers: new Map() } },
      runHandler,
    );
}
