import type { Hex } from "viem";
import { AbortController } from "../../protocol/globals.ts";
import { hashJson } from "../../protocol/values/canonical-json.ts";
import { Problem } from "../api/errors/problem.ts";
import type { IdempotencyRecord } from "../store/records.ts";
import type { Change, Store } from "../store/store.ts";
import { type Answer, serializedAnswer } from "./answers/answer.ts";
import type { Operation } from "./operation.ts";
import type { Validated } from "./request/validate.ts";
import type { Step } from "./step.ts";

/** The request that an Idempotency-Key identifies: its scope and the request that it was first sent with. */
export interface IdempotencyClaim {
  /** The record's key in the store. */
  key: string;
  fingerprint: Hex;
}

/** A key with its record in the store: its revision, 0 while there is none, and what an effect was begun on. */
export interface HeldKey extends IdempotencyClaim {
  revision: number;
  subject: string | null;
}

/** The current state of a key: the answer that is stored under it, or a request that has none yet. */
export type KeyState = { answer: Answer } | { held: HeldKey | null };

/**
 * Says what a key identifies: program and key (wallet routes: program, object and key), and a fingerprint over method,
 * concrete path and parsed body.
 */
export function claimKey(
  operation: Operation,
  request: { key: string; path: string; body: unknown; program: string },
): IdempotencyClaim {
  const { key, path, body, program } = request;
  const scope = operation.authorization.kind === "wallet" ? path : program;
  return { key: `${scope}\n${key}`, fingerprint: hashJson([operation.method.toUpperCase(), path, body]) };
}

/**
 * Looks up a key: the stored answer is repeated, byte by byte, to the same request.
 *
 * @throws Problem idempotency_key_reused when the key was first sent with another request.
 */
export async function lookUpKey(store: Store, { key, fingerprint }: IdempotencyClaim): Promise<KeyState> {
  const found = await store.get("idempotency", key);
  if (found === undefined) return { held: { key, fingerprint, revision: 0, subject: null } };
  const { value, revision } = found;
  if (value.fingerprint !== fingerprint)
    throw new Problem(
      "idempotency_key_reused",
      "This Idempotency-Key was sent before with another method, path or body. Send a new key for a new request.",
    );
  if (value.response === null) return { held: { key, fingerprint, revision, subject: value.subject } };
  const { status, body } = value.response;
  return { answer: serializedAnswer(status, body, { "Idempotent-Replayed": "true" }) };
}

/** A request with the state of its idempotency key, which is looked up again after an error. */
export interface Claimed extends Validated {
  held: HeldKey | null;
  lookUpAgain: () => Promise<KeyState>;
}

/** Returns the change that stores the record of a key, which no other process may have made or changed meanwhile. */
export function writeKey({ key, revision }: HeldKey, value: IdempotencyRecord): Change {
  const record = { collection: "idempotency", key, value } as const;
  return revision === 0 ? { kind: "insert", ...record } : { kind: "update", revision, ...record };
}

/**
 * Returns whether a refusal frees the key, because it had no effect. A request that may have had an effect, now or earlier, keeps the key, so
 * that a repeat resumes the request and gets the success also when another key brings it.
 */
export function freesKey(error: unknown, { subject }: HeldKey): boolean {
  if (!(error instanceof Problem) || error.status >= 500) return false;
  return subject === null && !error.hadEffect && error.code !== "outcome_unknown";
}

/**
 * Does a request once per idempotency key: identical requests get the same bytes. Those at this process wait for the first one; one at another
 * process starts over once this one's answer is stored.
 *
 * @throws Problem idempotency_key_reused, idempotency_in_flight.
 */
export const repeatAnswer: Step<Validated, Claimed> = async (context, next) => {
  const { operation, key, underWay, services } = context;
  if (key === null) return await next({ ...context, held: null, lookUpAgain: async () => ({ held: null }) });
  const path = concretePath(operation.path, context.params);
  const claim = claimKey(operation, { key, path, body: context.parsed, program: context.program.id });
  for (;;) {
    const running = underWay.get(claim.key);
    if (running === undefined) break;
    if (!(await context.releaseGate(async () => await endsInTime(running, context)))) throw inFlight();
  }
  const { promise, resolve } = Promise.withResolvers<void>();
  underWay.set(claim.key, promise);
  try {
    const lookUpAgain = async () => await lookUpKey(services.store, claim);
    const found = await lookUpAgain();
    return "answer" in found ? found.answer : await next({ ...context, held: found.held, lookUpAgain });
  } finally {
    underWay.delete(claim.key);
    resolve();
  }
};

/** Has the handler record its key before an effect, and frees the key when it was refused. */
export const holdKey: Step<Claimed, Claimed> = async (context, next) => {
  const { held, services } = context;
  if (held === null) return await next(context);
  const { store } = services;
  const { key, fingerprint } = held;
  const beginEffect = async (subject: string) => {
    await context.beginEffect(subject);
    if (held.revision > 0) return;
    const value = { fingerprint, state: "in_progress", subject, response: null } as const;
    await store.commit([], () => [writeKey(held, value)]);
    held.revision = 1;
  };
  try {
    return await next({ ...context, resumes: held.subject, beginEffect });
  } catch (error) {
    const { revision } = held;
    if (revision > 0 && freesKey(error, held))
      await store.commit([], () => [{ kind: "delete", collection: "idempotency", key, revision }]);
    throw error;
  }
};

/** Waits for the request in progress, up to a deadline; no timer is left when it ends in time. */
async function endsInTime(running: Promise<void>, { services }: Validated): Promise<boolean> {
  const { wait, settings } = services;
  const stop = new AbortController();
  const late = wait(settings.receiptTimeoutMs, stop.signal).then(() => false);
  const inTime = running.then(() => true);
  const ended = await Promise.race([inTime, late]);
  stop.abort();
  return ended;
}

/** The path as the table writes it, with the parameters in place: equal however it was percent-encoded. */
function concretePath(path: string, params: { readonly [name: string]: string }): string {
  return path.replaceAll(/\{([a-z]+)\}/g, (_, name: string) => params[name] ?? "");
}

/** The refusal of a repeat that came while the first request is in progress. */
function inFlight(): Problem {
  return new Problem(
    "idempotency_in_flight",
    "The first request with this Idempotency-Key is still being processed. Send the identical request again.",
    {
      headers: { "Retry-After": "1" },
    },
  );
}
