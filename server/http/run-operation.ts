import { AbortController } from "../../protocol/globals.ts";
import { KeyedMutex } from "../../relayer/keyed-mutex.ts";
import { ChainMovedError, type ChainReader } from "../chain/chain-reader.ts";
import { commitWithEvent } from "../outbox/freeze-event.ts";
import type { Services } from "../services.ts";
import { type Change, StoreConflictError } from "../store/store.ts";
import { type Answer, jsonAnswer, serializedAnswer } from "./answers/answer.ts";
import { meetApiFault } from "./faults/meet-api-fault.ts";
import {
  freesKey,
  type HeldKey,
  type IdempotencyClaim,
  inFlight,
  type KeyState,
  lookUpKey,
  writeKey,
} from "./idempotency.ts";
import type { Operation, OperationContext, Outcome } from "./operation.ts";

/** The number of times that a handler starts over when another request changed what it had read. */
const conflictRetries = 8;

/** The same when a reorg did. */
const reorgRetries = 2;

/** Runs operations: each effect once per idempotency key, each write in one commit. */
export class OperationRunner {
  readonly #services: Services;
  readonly #underWay = new Map<string, Promise<void>>();
  readonly #turns = new KeyedMutex();

  constructor(services: Services) {
    this.#services = services;
  }

  /** Runs an operation that takes no idempotency key. */
  async run(operation: Operation, context: OperationContext): Promise<Answer> {
    return await this.#attempt(operation, context, async () => ({ held: null }), null);
  }

  /**
   * Runs an operation under an idempotency key: the first request does it, identical ones get the same bytes. Those at this process wait
   * for it; one at another process starts over once this one's answer is stored.
   *
   * @throws Problem idempotency_key_reused, idempotency_in_flight.
   */
  async runOnce(operation: Operation, context: OperationContext, claim: IdempotencyClaim): Promise<Answer> {
    for (;;) {
      const running = this.#underWay.get(claim.key);
      if (running === undefined) break;
      if (!(await context.outside(async () => await this.#endsInTime(running)))) throw inFlight();
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#underWay.set(claim.key, promise);
    try {
      const look = async () => await lookUpKey(this.#services.store, claim);
      const found = await look();
      return "answer" in found ? found.answer : await this.#attempt(operation, context, look, found.held);
    } finally {
      this.#underWay.delete(claim.key);
      resolve();
    }
  }

  /** Waits for the request in progress, up to a deadline; no timer is left when it ends in time. */
  async #endsInTime(running: Promise<void>): Promise<boolean> {
    const { wait, settings } = this.#services;
    const stop = new AbortController();
    const late = wait(settings.receiptTimeoutMs, stop.signal).then(() => false);
    const inTime = running.then(() => true);
    const ended = await Promise.race([inTime, late]);
    stop.abort();
    return ended;
  }

  /**
   * Runs the handler and commits what it decided, one request at a time for each object; starts over when what it read has changed
   * meanwhile anyway.
   *
   * Any error may have its cause in the same request at another process: if that one has stored an answer by then, it is returned.
   */
  async #attempt(
    operation: Operation,
    context: OperationContext,
    look: () => Promise<KeyState>,
    first: HeldKey | null,
  ): Promise<Answer> {
    const attempt = async () => {
      await meetApiFault("before_commit", operation, context, null);
      let held = first;
      for (let tries = 0; ; tries += 1) {
        try {
          return await this.#handleHolding(operation, context, held);
        } catch (error) {
          const found = await look();
          if ("answer" in found) return found.answer;
          if (tries >= retriesAfter(error)) throw error;
          held = found.held;
        }
      }
    };
    const turn = operation.method === "post" ? turnOf(operation, context) : null;
    if (turn === null) return await attempt();
    let release = () => {};
    try {
      await context.outside(async () => {
        release = await this.#turns.acquire(turn);
      });
      return await attempt();
    } finally {
      release();
    }
  }

  /** Has the handler record its key before an effect, and frees the key when it was refused. */
  async #handleHolding(
    operation: Operation,
    context: OperationContext,
    held: HeldKey | null,
  ): Promise<Answer> {
    if (held === null) return await this.#handleAndCommit(operation, context, null);
    const { store } = this.#services;
    const { key, fingerprint } = held;
    const beginEffect = async (subject: string) => {
      await context.beginEffect(subject);
      if (held.revision > 0) return;
      const value = { fingerprint, state: "in_progress", subject, response: null } as const;
      await store.commit([], () => [writeKey(held, value)]);
      held.revision = 1;
    };
    try {
      return await this.#handleAndCommit(operation, { ...context, resumes: held.subject, beginEffect }, held);
    } catch (error) {
      const { revision } = held;
      if (revision > 0 && freesKey(error, held))
        await store.commit([], () => [{ kind: "delete", collection: "idempotency", key, revision }]);
      throw error;
    }
  }

  async #handleAndCommit(
    operation: Operation,
    context: OperationContext,
    held: HeldKey | null,
  ): Promise<Answer> {
    const { store, settings, clock } = this.#services;
    const { services } = context;
    const isRead = operation.method !== "post";
    const chain = isRead ? services.chain : services.chain.forRequest(context.confirmTime);
    // Responses of reads are cached with the services.
    const own = isRead ? context : { ...context, services: { ...services, chain } };
    const outcome = await handle(operation, own);
    if (outcome.kind === "read") return jsonAnswer(outcome.status, outcome.body, outcome.headers);
    if (outcome.kind === "kept") return serializedAnswer(outcome.status, outcome.json);
    const { event, refusal } = outcome;
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
      answer = serializedAnswer(outcome.status, json, outcome.status === 202 ? { "Retry-After": "1" } : {});
      const all: Change[] = [...changes];
      if (held && outcome.status !== 202 && refusal === undefined)
        all.push(
          writeKey(held, {
            fingerprint: held.fingerprint,
            state: "done",
            subject: context.resumes,
            response: { status: outcome.status, body: json },
          }),
        );
      return all;
    });
    if (refusal !== undefined) throw refusal;
    if (answer === undefined) throw new Error("A commit that resolved must have been built.");
    return answer;
  }
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

/**
 * Returns the key of the queue that a write waits in: writes on one object would only undo each other's reads.
 * Creations need no turn.
 */
function turnOf(operation: Operation, { program, id, caller, header }: OperationContext): string | null {
  if (id !== "") return `${program.id}/${id}`;
  if (caller.kind === "account") return caller.account.id;
  if (operation.authorization.kind === "signed_event") return header("webhook-id") ?? null;
  return operation.effect ? `${program.id}/${operation.id}` : null;
}
