import { AbortController } from "../../protocol/globals.ts";
import { Problem } from "../errors/problem.ts";
import { claimKey, freesKey, type HeldKey, type KeyState, lookUpKey, writeKey } from "./idempotency.ts";
import type { Validated } from "./request/validate.ts";
import type { Step } from "./step.ts";

/** A request with the state of its idempotency key, which is looked up again after an error. */
export interface Claimed extends Validated {
  held: HeldKey | null;
  lookUpAgain: () => Promise<KeyState>;
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
