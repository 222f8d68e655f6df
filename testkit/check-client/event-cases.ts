import { randomBytes } from "node:crypto";
import { performance } from "node:perf_hooks";
import { ed25519Key } from "../../protocol/signatures/ed25519.ts";
import { signWebhook, type WebhookKeys, webhookSecret } from "../../protocol/signatures/webhook.ts";
import { toTimestamp } from "../../protocol/values/time.ts";
import type { Sandbox } from "../../sandbox/create-sandbox.ts";
import type { SendDelivery } from "../../sandbox/lib/http/deliver.ts";
import { wait } from "../../sandbox/lib/time/timers.ts";
import type { InterceptDelivery } from "../../sandbox/receiver/receiver-pin.ts";
import { KeyRing } from "../../server/keys/key-ring.ts";
import { type CaseFault, type CheckCase, eventFaults, forgeries, type Hold } from "./check-case.ts";
import { readEffects } from "./effects.ts";

/** An event that went to the client's receiver. */
export interface CleanEvent {
  /** Counts the events from 1, in the order of their first delivery. */
  n: number;
  id: string;
  type: string;
  /** Why the receiver has not accepted it, as a clause; null if it has. An event that it refuses has no case. */
  refusal: string | null;
}

type Delivery = Parameters<SendDelivery>;
type Outcome = Awaited<ReturnType<SendDelivery>>;

/** How late a late event is, and how old the timestamp of a replay, in seconds. */
export const lateSeconds = 20 * 60;

/** The same in words. */
export const late = `${lateSeconds / 60} minutes`;

/** The longest time that an event waits for the next one, which is to overtake it. */
export const latestOvertakenMs = 3_000;

/** How long the genuine event waits after a forged one, for what the client does because of that. */
export const forgedMs = 100;

/** How long an event is held without a forgery, for what the client does before it: much longer than after a forgery. */
const heldMs = 2_000;

/** The longest time after a forged event in which an act counts: one in which the run without a forgery has held the event, however slow it was. */
export const actMs = 1_000;

/** A delivery of the event of a case that is about to be made. */
interface Disturbed {
  sandbox: Sandbox;
  /** Aborted when the run has ended. */
  ended: AbortSignal;
  send: SendDelivery;
  delivery: Delivery;
  /** The number of attempts to deliver the event so far, this one included. */
  attempt: number;
  /** Resolves when another event was delivered. */
  overtaken: Promise<unknown>;
  /** Takes work that continues after the delivery. */
  later: (work: Promise<unknown>) => void;
}

/** How an event of each fault is delivered. */
const table: { readonly [F in (typeof eventFaults)[number]]: (delivery: Disturbed) => Promise<Outcome> } = {
  async "event-twice"({ send, delivery }) {
    const outcome = await send(...delivery);
    await send(...delivery);
    return outcome;
  },
  async "event-answer-lost"({ send, delivery, attempt }) {
    const outcome = await send(...delivery);
    return attempt > 1 ? outcome : { ...outcome, status_code: null, error: "the response was lost" };
  },
  async "event-order"({ send, delivery, overtaken, later }) {
    later(Promise.race([overtaken, wait(latestOvertakenMs)]).then(async () => await send(...delivery)));
    return { status_code: 204, error: null, response_body: "", retry_after: null, duration_ms: 0 };
  },
  async "event-late"({ sandbox, send, delivery: [headers, body, signal] }) {
    const created = toTimestamp(Number(headers["webhook-timestamp"]) - lateSeconds);
    const old = body.replace(/"created_at":"[^"]*"/, `"created_at":"${created}"`);
    return await send({ ...headers, ...(await signed(sandbox, headers, old)) }, old, signal);
  },
};

/** The forgery of the types other than that of the first event: a backend that verifies one type verifies the others in the same way, or not at all. */
const furtherForgeries = ["forged-signature"] as const;

/** How an event is forged: its headers and its body. */
const forgers: {
  readonly [F in (typeof forgeries)[number]]: (
    headers: Delivery[0],
    body: string,
    sandbox: Sandbox,
  ) => Promise<{ headers: Delivery[0]; body: string }>;
} = {
  async "forged-signature"(headers, body) {
    const other = randomBytes(32).toString("base64");
    return { headers: { ...headers, "webhook-signature": `v1,${other} v1a,${other}` }, body };
  },
  async "forged-body"(headers, body) {
    return { headers, body: body.replace(/"sequence":\d+/, '"sequence":999999') };
  },
  // Its JSON is the same, so only who verifies the received bytes notices.
  async "forged-bytes"(headers, body) {
    return { headers, body: body.replace('"data":', ' "data": ') };
  },
  async "forged-timestamp"(headers, body, sandbox) {
    const old = {
      ...headers,
      "webhook-timestamp": String(Number(headers["webhook-timestamp"]) - lateSeconds),
    };
    return { headers: { ...old, ...(await signed(sandbox, old, body)) }, body };
  },
  async "forged-key"(headers, body, sandbox) {
    const keys = { secret: webhookSecret(randomBytes(32)), key: await ed25519Key(randomBytes(32)) };
    return { headers: { ...headers, ...(await signed(sandbox, headers, body, keys)) }, body };
  },
};

async function signed(sandbox: Sandbox, headers: Delivery[0], body: string, keys?: WebhookKeys) {
  const { seed, programs } = sandbox.settings;
  const ring = new KeyRing(
    seed,
    programs.map(({ id }) => id),
    sandbox.store,
  );
  const { "webhook-id": id = "", "webhook-timestamp": timestamp } = headers;
  const { current } = await ring.notifications();
  return { ...signWebhook({ id, timestamp: Number(timestamp), body }, keys ?? current) };
}

/** An event of a run: the first, second, … of its type, because other types may come earlier or later in another run. */
interface Place {
  type: string;
  /** Counts the events of the type from 1. */
  occurrence: number;
}

/**
 * Returns the cases of the events that the client's receiver accepted: every fault of each, each forgery of the first one, and one forgery of
 * the first one of each other type.
 */
export function casesOfEvents(events: readonly CleanEvent[]): CheckCase[] {
  const accepted = events.filter(({ refusal }) => refusal === null);
  const placeOf = ({ id, type }: CleanEvent): Place => ({
    type,
    occurrence: 1 + events.filter((one) => one.type === type).findIndex((one) => one.id === id),
  });
  const disturbed = accepted.flatMap((event) =>
    eventFaults
      .filter((fault) => fault !== "event-order" || event !== events.at(-1))
      .map((fault) => {
        const deliver: Deliver = async (delivery) => ({ outcome: await table[fault](delivery), hold: null });
        return caseOf(event, fault, disturb(placeOf(event), fault, deliver));
      }),
  );
  const firsts = [...Map.groupBy(accepted, ({ type }) => type).values()].flatMap(([first]) => first ?? []);
  const forged = firsts.flatMap((event, index) => {
    const control = disturb(placeOf(event), null, holdWithout);
    return (index === 0 ? forgeries : furtherForgeries).map((fault) => ({
      ...caseOf(event, fault, disturb(placeOf(event), fault, forge(fault))),
      control,
    }));
  });
  return [...disturbed, ...forged];
}

/** Delivers a forged event before the genuine one. */
function forge(fault: (typeof forgeries)[number]): Deliver {
  return async ({ sandbox, send, delivery }) => {
    const [headers, body, signal] = delivery;
    const forged = await forgers[fault](headers, body, sandbox);
    const { answer, hold } = await holding(sandbox, async () => {
      const sent = await send(forged.headers, forged.body, signal);
      if (!isUnconnected(sent)) await wait(forgedMs);
      return sent;
    });
    // Nothing listens yet. The genuine event would not have come either, so both come with the next attempt.
    if (isUnconnected(answer)) return { outcome: answer, hold: null };
    const outcome = await send(...delivery);
    // A receiver that answers neither of them is not there.
    return { outcome, hold: hold.status === null && outcome.status_code === null ? null : hold };
  };
}

/** Delivers an event late, and nothing before it. */
async function holdWithout({ sandbox, send, delivery, ended }: Disturbed): Promise<Delivered> {
  const { hold } = await holding(sandbox, async () => {
    await wait(heldMs, ended);
    return null;
  });
  const outcome = await send(...delivery);
  return { outcome, hold: outcome.status_code === null ? null : hold };
}

function isUnconnected({ error }: Outcome): boolean {
  return /^(?:connection refused|no connection)/.test(error ?? "");
}

/** Notes the effects before and after a step, which returns the response to a forged event. */
async function holding<T extends Outcome | null>(
  sandbox: Sandbox,
  step: () => Promise<T>,
): Promise<{ answer: T; hold: Hold }> {
  const before = await readEffects(sandbox);
  const from = performance.now();
  const answer = await step();
  const until = performance.now();
  const after = await readEffects(sandbox);
  return { answer, hold: { status: answer?.status_code ?? null, from, until, before, after } };
}

interface Delivered {
  outcome: Outcome;
  hold: Hold | null;
}

/** Makes a delivery of the event of a case. */
type Deliver = (delivery: Disturbed) => Promise<Delivered>;

function caseOf({ n, type, id }: CleanEvent, fault: CaseFault, begin: CheckCase["begin"]): CheckCase {
  return { n, operation: type, subject: id, fault, begin };
}

function disturb({ type, occurrence }: Place, fault: CaseFault | null, deliver: Deliver): CheckCase["begin"] {
  return async ({ sandbox, ended }) => {
    const order: Pick<CleanEvent, "id" | "type">[] = [];
    const find = () => order.filter((one) => one.type === type)[occurrence - 1];
    const laterThan = (event: Pick<CleanEvent, "id">) =>
      order.slice(1 + order.findIndex(({ id }) => id === event.id)).map(({ id }) => id);
    const overtaken = Promise.withResolvers<void>();
    const holds: Hold[] = [];
    const work: Promise<unknown>[] = [];
    const arrivals: Arrival[] = [];
    let attempt = 0;
    const intercept: InterceptDelivery = async (original, ...delivery) => {
      const current = eventOf(...delivery);
      const send: SendDelivery = async (...sent) => {
        arrivals.push({ ...eventOf(...sent), at: performance.now() });
        return await original(...sent);
      };
      if (!order.some(({ id }) => id === current.id)) order.push(current);
      const event = find();
      if (event?.id !== current.id) {
        const outcome = await send(...delivery);
        if (event !== undefined && laterThan(event).length > 0) overtaken.resolve();
        return outcome;
      }
      attempt += 1;
      const later = (begun: Promise<unknown>) => work.push(begun.catch(() => undefined));
      const made = deliver({ sandbox, ended, send, delivery, attempt, overtaken: overtaken.promise, later });
      later(made);
      const { outcome, hold } = await made;
      if (hold !== null) holds.push(hold);
      return outcome;
    };
    sandbox.interceptDeliveries(intercept);
    return async () => {
      overtaken.resolve();
      await Promise.all(work);
      sandbox.interceptDeliveries(null);
      const event = find();
      const isForged = fault?.startsWith("forged-") ?? false;
      const met = isForged ? holds.length : attempt;
      const arrival =
        event === undefined ? null : describeArrival(fault, arrivals, event.id, laterThan(event));
      return { reached: met > 0, holds, arrival };
    };
  };
}

/** A delivery to the client's receiver. */
interface Arrival extends Pick<CleanEvent, "id" | "type"> {
  at: number;
}

function eventOf(...[headers, body]: Delivery): Pick<CleanEvent, "id" | "type"> {
  const [, type = ""] = /"type":"([^"]*)"/.exec(body) ?? [];
  return { id: headers["webhook-id"] ?? "", type };
}

/**
 * Says how the event of a case came, as a clause; null for a forged or held one.
 *
 * @param later - the ids of the events that the service delivered after it.
 */
function describeArrival(
  fault: CaseFault | null,
  arrivals: readonly Arrival[],
  event: string,
  later: readonly string[],
): string | null {
  const [first, again] = arrivals.filter(({ id }) => id === event);
  if (first === undefined || fault === null) return null;
  const name = `${first.type} ${first.id}`;
  const since = (earlier: Arrival, later: Arrival) => `${Math.round(later.at - earlier.at)} ms`;
  if (fault === "event-late") return `${name} came ${late} after it was made`;
  if (fault === "event-order") {
    const other = arrivals.slice(0, arrivals.indexOf(first)).findLast(({ id }) => later.includes(id));
    return other === undefined
      ? `${name} came late, and no later event before it`
      : `${name} came ${since(other, first)} after the later ${other.type} ${other.id}`;
  }
  if (again === undefined || !fault.startsWith("event-")) return null;
  const why = fault === "event-answer-lost" ? ", because its response was lost" : "";
  return `${name} came again after ${since(first, again)}${why}`;
}

/** Notes the events that go to the client's receiver from now on; the returned function ends this and returns them. */
export function watchEvents(sandbox: Sandbox): () => CleanEvent[] {
  const events: CleanEvent[] = [];
  sandbox.interceptDeliveries(async (send, ...delivery) => {
    const { id, type } = eventOf(...delivery);
    const known = events.find((one) => one.id === id);
    const event = known ?? { n: events.length + 1, id, type, refusal: "the run ended before its response" };
    if (known === undefined) events.push(event);
    const outcome = await send(...delivery);
    const refusal = refusalOf(outcome);
    if (refusal === null || known === undefined) event.refusal = refusal;
    return outcome;
  });
  return () => {
    sandbox.interceptDeliveries(null);
    return events;
  };
}

/** Returns why a receiver has not accepted a delivery, as a clause; null if it has. */
function refusalOf({ status_code: status, error }: Outcome): string | null {
  if (status === null) return `it got no response (${error})`;
  return status >= 200 && status < 300 ? null : `the receiver responded with ${status}`;
}
