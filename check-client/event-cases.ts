import { randomBytes } from "node:crypto";
import { performance } from "node:perf_hooks";
import { ed25519Key } from "../protocol/signatures/ed25519.ts";
import { signWebhook, type WebhookKeys, webhookSecret } from "../protocol/signatures/webhook.ts";
import { toTimestamp } from "../protocol/values/time.ts";
import type { Sandbox } from "../sandbox/create-sandbox.ts";
import type { SendDelivery } from "../sandbox/lib/http/deliver.ts";
import { wait } from "../sandbox/lib/time/timers.ts";
import type { InterceptDelivery } from "../sandbox/receiver/receiver-pin.ts";
import { KeyRing } from "../server/keys/key-ring.ts";
import { type CheckCase, eventFaults, forgeries } from "./check-case.ts";

/** An event that the client's receiver got. */
export interface CleanEvent {
  /** Counts the events from 1, in the order of their first delivery. */
  n: number;
  id: string;
  type: string;
}

type Delivery = Parameters<SendDelivery>;
type Outcome = Awaited<ReturnType<SendDelivery>>;

/** How late a late event is, and how old the timestamp of a replay, in seconds. */
export const lateSeconds = 20 * 60;

/** The longest time that an event waits for the next one, which is to overtake it. */
export const latestOvertakenMs = 3_000;

/** A delivery of the event of a case that is about to be made. */
interface Disturbed {
  sandbox: Sandbox;
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

/** Returns the cases of the events that the client's receiver got: every fault of each, and each forgery once, of the first one. */
export function casesOfEvents(events: readonly CleanEvent[]): CheckCase[] {
  const [first] = events;
  return [
    ...events.flatMap((event) =>
      eventFaults
        .filter((fault) => fault !== "event-order" || event !== events.at(-1))
        .map((fault) =>
          caseOf(event, fault, async (delivery) => ({ outcome: await table[fault](delivery) })),
        ),
    ),
    ...(first === undefined
      ? []
      : forgeries.map((fault) =>
          caseOf(first, fault, async ({ sandbox, send, delivery: [headers, body, signal] }) => {
            const forged = await forgers[fault](headers, body, sandbox);
            const { status_code } = await send(forged.headers, forged.body, signal);
            return { outcome: await send(headers, body, signal), forged: status_code };
          }),
        )),
  ];
}

function caseOf(
  { n, type, id }: CleanEvent,
  fault: CheckCase["fault"],
  deliver: (delivery: Disturbed) => Promise<{ outcome: Outcome; forged?: number | null }>,
): CheckCase {
  return {
    n,
    operation: type,
    subject: id,
    fault,
    async begin({ sandbox }) {
      const order: string[] = [];
      const overtaken = Promise.withResolvers<void>();
      const forged: (number | null)[] = [];
      const work: Promise<unknown>[] = [];
      const arrivals: Arrival[] = [];
      let attempt = 0;
      const intercept: InterceptDelivery = async (original, ...delivery) => {
        const [{ "webhook-id": event = "" }] = delivery;
        const send: SendDelivery = async (...sent) => {
          arrivals.push({ ...eventOf(...sent), at: performance.now() });
          return await original(...sent);
        };
        if (!order.includes(event)) order.push(event);
        if (order[n - 1] !== event) {
          const outcome = await send(...delivery);
          if (order.length > n) overtaken.resolve();
          return outcome;
        }
        attempt += 1;
        const later = (begun: Promise<unknown>) => work.push(begun.catch(() => undefined));
        const made = await deliver({ sandbox, send, delivery, attempt, overtaken: overtaken.promise, later });
        if (made.forged !== undefined) forged.push(made.forged);
        return made.outcome;
      };
      sandbox.interceptDeliveries(intercept);
      return async () => {
        overtaken.resolve();
        await Promise.all(work);
        sandbox.interceptDeliveries(null);
        const [event = "", ...later] = order.slice(n - 1);
        return { reached: attempt > 0, forged, arrival: describeArrival(fault, arrivals, event, later) };
      };
    },
  };
}

/** A delivery to the client's receiver. */
interface Arrival extends Omit<CleanEvent, "n"> {
  at: number;
}

function eventOf(...[headers, body]: Delivery): Omit<CleanEvent, "n"> {
  const [, type = ""] = /"type":"([^"]*)"/.exec(body) ?? [];
  return { id: headers["webhook-id"] ?? "", type };
}

/**
 * Says how the event of a case came, as a clause; null for a forged one.
 *
 * @param later - the ids of the events that the service delivered after it.
 */
function describeArrival(
  fault: CheckCase["fault"],
  arrivals: readonly Arrival[],
  event: string,
  later: readonly string[],
): string | null {
  const [first, again] = arrivals.filter(({ id }) => id === event);
  if (first === undefined) return null;
  const name = `${first.type} ${first.id}`;
  const since = (earlier: Arrival, later: Arrival) => `${Math.round(later.at - earlier.at)} ms`;
  if (fault === "event-late") return `${name} came ${lateSeconds / 60} minutes after it was made`;
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

/** Notes the events that the client's receiver gets from now on; the returned function ends this and returns them. */
export function watchEvents(sandbox: Sandbox): () => CleanEvent[] {
  const events: CleanEvent[] = [];
  sandbox.interceptDeliveries(async (send, ...delivery) => {
    const event = eventOf(...delivery);
    if (!events.some(({ id }) => id === event.id)) events.push({ n: events.length + 1, ...event });
    return await send(...delivery);
  });
  return () => {
    sandbox.interceptDeliveries(null);
    return events;
  };
}
