import { z } from "zod";
import { type Json, toJson } from "../../protocol/values/json.ts";
import { requestLogLimits } from "../../sandbox/activity/request-log.ts";
import { type RequestView, requestsSchema } from "../../sandbox/activity/views.ts";
import type { Sandbox } from "../../sandbox/create-sandbox.ts";
import type { AccountView } from "../../sandbox/explain/address-labels.ts";
import { type BlockView, blocksSchema, type EventView, eventsSchema } from "../../sandbox/explorer/views.ts";
import { showValue } from "../../sandbox/lib/errors/show-value.ts";
import type { ViewPage } from "../../sandbox/lib/page.ts";
import { askControl } from "../../sandbox/service/ask-control.ts";
import { type Fingerprint, fingerprintSchema } from "../../sandbox/snapshots/fingerprint.ts";
import { findDifference } from "../../testkit/scenario/repeat/find-difference.ts";

/** The kinds of steps, as they follow each other at equal times. */
const kinds = ["chain", "request", "event"] as const;

/** A request, a transaction, a block without transactions, or an event of a run. */
interface RunStep {
  kind: (typeof kinds)[number];
  /** As in `request 3, POST /v1/routing/…`. */
  name: string;
  /** The sandbox time. */
  at: string;
  /** The fields that equal runs have in common, without times of the wall clock. */
  value: Json;
}

/** The sandbox that a command has run with. */
type RecordedSandbox = Pick<Sandbox, "description" | "chain">;

/** The requests, transactions, blocks without transactions, and events of a run of a command. */
export interface RecordedRun {
  fingerprint: Fingerprint;
  /** The number of the run's first requests that the sandbox no longer has. */
  forgotten: number;
  /** The oldest first. */
  steps: readonly RunStep[];
}

/**
 * Reads the requests, blocks and events since the last restore, when no request is in progress.
 *
 * @param firstNumber - of the requests since then.
 */
export async function recordRun(
  { description, chain: { client } }: RecordedSandbox,
  firstNumber: number,
): Promise<RecordedRun> {
  const controlUrl = description.urls.control;
  const fingerprint = fingerprintSchema.parse(await read(controlUrl, "/fingerprint"));
  const [blocks, requests, events] = [
    await readAll(controlUrl, "/explorer/blocks?", blocksSchema),
    await readAll(controlUrl, "/requests?limit=200", requestsSchema),
    await readAll(controlUrl, "/explorer/events?", eventsSchema),
  ];
  // Requests whose time was not read have that of the request before them.
  let at = "";
  const timed = requests.map((request) => {
    at = request.at ?? at;
    return { ...request, at };
  });
  // At equal times, a block comes before the requests that find it, and these before the events that they cause.
  const forgotten = (requests[0]?.number ?? firstNumber) - firstNumber;
  const chainSteps: RunStep[] = [];
  for (const block of blocks) chainSteps.push(...(await blockSteps(block, client)));
  const steps = [...chainSteps, ...timed.map(requestStep), ...events.map(eventStep)];
  return {
    fingerprint,
    forgotten,
    steps: steps.toSorted((left, right) => left.at.localeCompare(right.at)).map(numbered(forgotten)),
  };
}

/**
 * Describes where a run first differs from the first run.
 *
 * @param number - of the other run, from 1.
 * @returns null if the fingerprints are equal.
 */
export function describeDifference(first: RecordedRun, other: RecordedRun, number: number): string | null {
  if (first.fingerprint.digest === other.fingerprint.digest) return null;
  // Each kind on its own: a block that only one run has moves the times of what follows, and so its order among other kinds.
  const found = kinds
    .map((kind) => findDifferentStep(stepsOf(first, kind), stepsOf(other, kind)))
    .filter((difference) => difference !== null)
    .toSorted((left, right) => left.at.localeCompare(right.at));
  const text = found[0]?.text ?? findReorderedStep(first, other);
  if (text !== null) return `Run ${number} differs from run 1 first in ${text}.`;
  const fields = differenceOf({ ...first.fingerprint, digest: "" }, { ...other.fingerprint, digest: "" });
  const forgotten = Math.max(first.forgotten, other.forgotten);
  if (forgotten > 0)
    return `Run ${number} differs from run 1 in its fingerprint: ${fields}. The first ${forgotten} requests were not compared, because the sandbox keeps the newest ${requestLogLimits.requests} only; have the command send fewer.`;
  return `Run ${number} differs from run 1 only in its fingerprint: ${fields}. Compare what the command changes besides requests, blocks, transactions and events: keys are in store, faults in parts, and the state of accounts and contracts in block.state_root.`;
}

function stepsOf({ steps }: RecordedRun, kind: RunStep["kind"]): RunStep[] {
  return steps.filter((step) => step.kind === kind);
}

/** Finds the first step of one kind that differs. */
function findDifferentStep(
  first: readonly RunStep[],
  other: readonly RunStep[],
): { at: string; text: string } | null {
  const length = Math.max(first.length, other.length);
  for (let index = 0; index < length; index += 1) {
    const [before, after] = [first[index], other[index]];
    const isMissing = before !== undefined && !hasStep(other, before) && hasStep(first, after);
    const isNew = after !== undefined && !hasStep(first, after) && hasStep(other, before);
    const compared = [isNew ? undefined : before, isMissing ? undefined : after] as const;
    const text = compareSteps(...compared);
    if (text === null) continue;
    const times = compared.flatMap((step) => step?.at ?? []).toSorted();
    // A request or an event that both runs have differs at its later time if something before it has moved it.
    const isMoved = before?.name === after?.name && before?.kind !== "chain";
    return { at: times.at(isMoved ? -1 : 0) ?? "", text };
  }
  return null;
}

/** Returns whether a run has a step of this name, of the same number. */
function hasStep(steps: readonly RunStep[], step: RunStep | undefined): boolean {
  return steps.some(({ name }) => name === step?.name);
}

function compareSteps(first: RunStep | undefined, other: RunStep | undefined): string | null {
  if (first === undefined) return `${other?.name}, which run 1 does not have`;
  if (other === undefined) return `${first.name}, which it does not have`;
  if (first.name !== other.name) return `${other.name}, where run 1 has ${first.name}`;
  const difference = differenceOf(first.value, other.value);
  return difference === null ? null : `${first.name}: ${difference}`;
}

/** Describes the first field that differs; null if none does. */
function differenceOf(first: Json, other: Json): string | null {
  const forth = findDifference(first, other, "");
  const back = findDifference(other, first, "");
  const field = forth?.field ?? back?.field;
  if (field === undefined) return null;
  const [before, after] = forth === null ? [back?.actual, back?.expected] : [forth.expected, forth.actual];
  return `${field} is ${showValue(after)} instead of ${showValue(before)}`;
}

/** Finds the first of equal steps whose objects have their keys in another order, which the texts of stored records keep. */
function findReorderedStep(first: RecordedRun, other: RecordedRun): string | null {
  for (const { name, value } of first.steps) {
    const same = other.steps.find((step) => step.name === name);
    const reordered = same === undefined ? null : findReordered(value, same.value, "");
    if (reordered !== null) return `${name}: ${reordered}`;
  }
  return null;
}

function findReordered(first: Json, other: Json | undefined, field: string): string | null {
  if (first === null || typeof first !== "object" || other === null || typeof other !== "object") return null;
  const [before, after] = [Object.keys(first).join(", "), Object.keys(other).join(", ")];
  if (before !== after) return `${field} has its keys in the order ${after} instead of ${before}`;
  const others = new Map<string, Json>(Object.entries(other));
  for (const [name, value] of Object.entries(first)) {
    const found = findReordered(value, others.get(name), field === "" ? name : `${field}.${name}`);
    if (found !== null) return found;
  }
  return null;
}

function requestStep({ method, path, at, ...request }: RequestView & { at: string }): RunStep {
  const { operation, idempotency_key, body, status, code, replayed, answer } = request;
  const value = toJson({ idempotency_key, body, status, code, replayed, answer });
  return {
    kind: "request",
    name: `request {number}, ${method} ${path}${operation === null ? "" : ` (${operation})`}`,
    at,
    value,
  };
}

async function blockSteps(
  { at, number, transactions }: BlockView,
  client: RecordedSandbox["chain"]["client"],
): Promise<RunStep[]> {
  if (transactions.length === 0)
    return [{ kind: "chain", name: `block ${number}, without transactions`, at, value: { at } }];
  const block = await client.getBlock({ blockNumber: BigInt(number), includeTransactions: true });
  const contents = new Map(block.transactions.map((transaction) => [String(transaction.hash), transaction]));
  return transactions.map(({ hash, from, to, function: called, about, succeeded }) => {
    const { value, input, nonce, gas } = contents.get(hash) ?? {};
    return {
      kind: "chain",
      name: `transaction {number}, ${nameTransaction(to, called, input)} from ${from.name ?? from.address}`,
      at,
      value: toJson({ about, succeeded, value, input, nonce, gas, block_number: number, hash, at }),
    };
  });
}

function nameTransaction(to: AccountView | null, called: string | null, input: string | undefined): string {
  if (to === null) return "the creation of a contract";
  const recipient = to.name ?? to.address;
  return input === "0x" ? `a transfer of ether to ${recipient}` : `${called ?? "a call"} of ${recipient}`;
}

function eventStep({ type, subject, body, created_at: at }: EventView): RunStep {
  return { kind: "event", name: `event {number}, ${type}`, at, value: toJson({ subject, body }) };
}

/** Returns a function that counts the steps of each kind, from 1. @param forgotten - the requests before the first one. */
function numbered(forgotten: number): (step: RunStep) => RunStep {
  const counts = new Map([["request", forgotten]]);
  return (step) => {
    const [kind = ""] = step.name.split(" ");
    const count = (counts.get(kind) ?? 0) + 1;
    counts.set(kind, count);
    return { ...step, name: step.name.replace("{number}", `${count}`) };
  };
}

/** Reads all pages of a list, the newest item first, and returns the oldest first. */
async function readAll<T>(controlUrl: string, path: string, schema: z.ZodType<ViewPage<T>>): Promise<T[]> {
  const items: T[] = [];
  let cursor: string | null = null;
  do {
    const next: string = cursor === null ? "" : `&cursor=${encodeURIComponent(cursor)}`;
    const page: ViewPage<T> = schema.parse(await read(controlUrl, path + next));
    items.push(...page.data);
    cursor = page.next_cursor;
  } while (cursor !== null);
  return items.reverse();
}

const refused = z.object({ detail: z.string() });

async function read(controlUrl: string, path: string): Promise<unknown> {
  const answer = await askControl(controlUrl, "GET", path);
  const body: unknown = await answer.json();
  if (!answer.ok) throw new Error(refused.parse(body).detail);
  return body;
}
