import type { Request, Response } from "express";
import type { KeyedMutex } from "../../relayer/keyed-mutex.ts";
import type { Answer } from "./answers/answer.ts";
import type { Operation } from "./operation.ts";
import type { Services } from "./services.ts";

/**
 * One step of a request: it passes on what it has found out, and may answer itself, change the answer or call the next step again.
 *
 * @throws Problem for a request that is refused.
 */
export type Step<In, Out extends In> = (
  context: In,
  next: (context: Out) => Promise<Answer>,
) => Promise<Answer>;

/** Steps that run one after the other. */
interface Steps<First, Last extends First> {
  run: Step<First, Last>;
  /** Returns these steps with another one behind them. */
  add<Next extends Last>(step: Step<Last, Next>): Steps<First, Next>;
}

/**
 * Begins a list of steps.
 *
 * @example firstStep(runInGate).add(startClock).run(asked, async ({ now }) => jsonAnswer(200, { now }))
 */
export function firstStep<First, Last extends First>(run: Step<First, Last>): Steps<First, Last> {
  return {
    run,
    add: (step) =>
      firstStep(async (context, next) => await run(context, async (last) => await step(last, next))),
  };
}

/** A request and what all requests of its API share. */
export interface Asked {
  operation: Operation;
  request: Request;
  response: Response;
  services: Services;
  operations: readonly Operation[];
  /** The requests in progress, by idempotency key. */
  underWay: Map<string, Promise<void>>;
  /** The queues of writes on one object. */
  turns: KeyedMutex;
  /** Done once however often the request starts over. */
  once: {
    body: Promise<Buffer> | null;
    isCounted: boolean;
    /** The number that the request has taken of each counter. */
    numbers: Map<string, number>;
  };
}
