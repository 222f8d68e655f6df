import { ChainMovedError, type ChainReader } from "../chain/chain-reader.ts";
import { type Change, StoreConflictError } from "../store/store.ts";
import { type Answer, jsonAnswer, serializedAnswer } from "./answers/answer.ts";
import { commitWithEvent } from "./freeze-event.ts";
import { writeKey } from "./idempotency.ts";
import type { Operation, OperationContext, Outcome } from "./operation.ts";
import type { Claimed } from "./repeat-answer.ts";
import type { Step } from "./step.ts";

/** The number of times that a handler starts over when another request changed what it had read. */
const conflictRetries = 8;

/** The same when a reorg did. */
const reorgRetries = 2;

/** Lets writes on one object run one after the other: they would only undo each other's reads. Creations need no turn. */
export const waitForTurn: Step<Claimed, Claimed> = async (context, next) => {
  const turn = turnOf(context.operation, context);
  if (turn === null) return await next(context);
  let release = () => {};
  try {
    await context.releaseGate(async () => {
      release = await context.turns.acquire(turn);
    });
    return await next(context);
  } finally {
    release();
  }
};

/**
 * Starts the handler over when what it has read has changed meanwhile.
 *
 * Any error may have its cause in the same request at another process: if that one has stored an answer by then, it is returned.
 */
export const retryChanged: Step<Claimed, Claimed> = async (context, next) => {
  let { held } = context;
  for (let tries = 0; ; tries += 1) {
    try {
      return await next({ ...context, held });
    } catch (error) {
      const found = await context.lookUpAgain();
      if ("answer" in found) return found.answer;
      if (tries >= retriesAfter(error)) throw error;
      held = found.held;
    }
  }
};

/** Runs the handler, and commits what it has decided together with its event and the answer under its key. */
export async function runHandler(context: Claimed): Promise<Answer> {
  const { operation, services, held, once } = context;
  const { store, settings, clock } = services;
  const isRead = operation.method !== "post";
  const chain = isRead ? services.chain : services.chain.forRequest(context.confirmTime);
  // A request that starts over gets the number that it has taken, so that what it was in a race with does not change its ids.
  const nextNumber = async (counter: string) => {
    const number = once.numbers.get(counter) ?? (await services.nextNumber(counter));
    once.numbers.set(counter, number);
    return number;
  };
  // Responses of reads are cached with the services.
  const outcome = await handle(
    operation,
    isRead ? context : { ...context, services: { ...services, chain, nextNumber } },
  );
  if (outcome.kind === "read") return jsonAnswer(outcome.status, outcome.body, outcome.headers);
  if (outcome.kind === "kept") return serializedAnswer(outcome.status, outcome.json);
  const { event, refusal, status } = outcome;
  const [now] = await Promise.all([
    event === undefined ? context.now : clock.now(),
    chain.settle(),
    context.confirmTime(),
  ]);
  const caused = { seed: settings.seed, program: context.program.id, now, event };
  let answer: Answer | undefined;
  await commitWithEvent(caused, store, (id) => {
    const { changes, body } = outcome.write(id);
    const json = JSON.stringify(body);
    answer = serializedAnswer(status, json, status === 202 ? { "Retry-After": "1" } : {});
    const all: Change[] = [...changes];
    if (held && status !== 202 && refusal === undefined) {
      const { fingerprint } = held;
      const response = { status, body: json };
      all.push(writeKey(held, { fingerprint, state: "done", subject: context.resumes, response }));
    }
    return all;
  });
  if (refusal !== undefined) throw refusal;
  if (answer === undefined) throw new Error("A commit that resolved must have been built.");
  return answer;
}

/** Runs a handler. A refusal counts only if the block that it was decided at is still on the chain. @throws ChainMovedError */
async function handle(operation: Operation, context: OperationContext): Promise<Outcome> {
  try {
    return await operation.handle(context);
  } catch (error) {
    if (retriesAfter(error) === 0) await settleRefusal(context.services.chain);
    throw error;
  }
}

/** A node that fails meanwhile does not change the refusal. */
async function settleRefusal(chain: ChainReader): Promise<void> {
  try {
    await chain.settle();
  } catch (error) {
    if (error instanceof ChainMovedError) throw error;
  }
}

/** Returns how often a handler starts over after an error: not at all unless something that it had read has changed. */
function retriesAfter(error: unknown): number {
  if (error instanceof StoreConflictError) return conflictRetries;
  return error instanceof ChainMovedError ? reorgRetries : 0;
}

/** Returns the key of the queue that a write waits in; null for none. */
function turnOf(operation: Operation, { program, id, caller, header }: OperationContext): string | null {
  if (operation.method !== "post") return null;
  if (id !== "") return `${program.id}/${id}`;
  if (caller.kind === "account") return caller.account.id;
  if (operation.authorization.kind === "signed_event") return header("webhook-id") ?? null;
  return operation.effect ? `${program.id}/${operation.id}` : null;
}
