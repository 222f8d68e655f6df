import type { Request } from "express";
import { KeyedMutex } from "../../relayer/keyed-mutex.ts";
import type { Services } from "../services.ts";
import type { Answer } from "./answers/answer.ts";
import { retryChanged, runHandler, waitForTurn } from "./commit.ts";
import { failAfterCommit, failBeforeCommit } from "./faults/apply-api-fault.ts";
import type { Operation } from "./operation.ts";
import { holdKey, repeatAnswer } from "./repeat-answer.ts";
import { reportRefusal } from "./report-refusal.ts";
import { authenticate, authorize, findProgram } from "./request/authenticate.ts";
import { forwardToLeader } from "./request/forward-to-leader.ts";
import { readKey } from "./request/idempotency-key.ts";
import { limitRate } from "./request/limit-rate.ts";
import { receiveBody } from "./request/read-body.ts";
import { startClock } from "./request/request-time.ts";
import { validateRequest } from "./request/validate.ts";
import { runInGate } from "./run-in-gate.ts";
import { type Asked, firstStep } from "./step.ts";

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
 * @example const answer = answerRequests(services, operations); await answer(operation, request, response);
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
      { ...shared, operation, request, response, once: { body: null, isCounted: false } },
      runHandler,
    );
}
