import type { Sandbox } from "../../sandbox/create-sandbox.ts";
import type { FaultRequest } from "../../sandbox/faults/fault-request.ts";
import { wait } from "../../sandbox/lib/time/timers.ts";
import type { ApiFaultPoint } from "../../server/http/faults/api-fault.ts";
import type { Change } from "../../server/store/store.ts";
import { type CheckCase, type DisturbedRun, writeFaults } from "./check-case.ts";
import { type ClientRequest, hasSucceeded, isOwnAccount, isWrite, subjectOf } from "./client-requests.ts";

/** A write of the clean run. */
export interface CleanWrite {
  /** Counts the writes from 1. */
  n: number;
  operation: string;
  /** The record that it is about; null if it names none. */
  subject: string | null;
}

/** A write with what its cases depend on. */
interface PlannedWrite extends CleanWrite {
  request: ClientRequest;
  /** The request that the client sends next. */
  next: ClientRequest | undefined;
}

type Begin = CheckCase["begin"];

/** How long a slow write waits, in milliseconds. */
export const slowMs = 1_000;

/** The longest time that a write is held while its case acts. */
const heldMs = 60_000;

/** The time between two looks at whether a write is held. */
const lookMs = 3;

/** The writes that have the relayer send a transaction, each with the kind of its relay operation. */
const relayed: { readonly [operation: string]: "offer" | "collect_refund" | undefined } = {
  activatePurchase: "offer",
  executeRefund: "collect_refund",
};

/** Every fault of a write: how a case with it begins, or null if it cannot act on this write. */
const table: { readonly [F in (typeof writeFaults)[number]]: (write: PlannedWrite) => Begin | null } = {
  "answer-lost": (write) => atWrite(write, "after_commit", { action: "reset" }),
  partial: (write) => atWrite(write, "after_commit", { action: "partial" }),
  "503-after-commit": (write) => atWrite(write, "after_commit", { action: "503" }),
  "429-after-commit": (write) => atWrite(write, "after_commit", { action: "429" }),
  reset: (write) => atWrite(write, "before_commit", { action: "reset" }),
  "503-before-commit": (write) => atWrite(write, "before_commit", { action: "503" }),
  "429-before-commit": (write) => atWrite(write, "before_commit", { action: "429" }),
  slow: (write) => atWrite(write, "before_commit", { action: "delay", delay_ms: slowMs }),
  hold: (write) => atRelayer(write, { point: "after_intent", action: "hold" }),
  "node-down": (write) =>
    write.request.calls.length === 0 ? null : whileHeld(write, "before_commit", loseOneCall),
  reorg: (write) =>
    write.operation === "reconcilePurchase"
      ? whileHeld(write, "after_commit", async (run) => await removePayments(write, run))
      : atRelayer(write, { point: "after_confirmed", action: "reorg" }),
  credential_expired: (write) => endCredentials(write, "expires_at"),
  credential_revoked: (write) => endCredentials(write, "revoked_at"),
};

/** Returns the writes that succeeded in a run, in their order. */
export function cleanWritesOf(requests: readonly ClientRequest[]): PlannedWrite[] {
  const writes = requests.filter((request) => isWrite(request) && hasSucceeded(request));
  return writes.map((request, index) => ({
    n: index + 1,
    operation: request.operation,
    subject: subjectOf(request),
    request,
    next: requests[requests.indexOf(request) + 1],
  }));
}

/** Returns the cases of the writes of a clean run, and of the reads that follow a write. */
export function casesOfWrites(writes: readonly PlannedWrite[]): CheckCase[] {
  return writes.flatMap((write) => {
    const { n, operation, subject, next } = write;
    const cases: CheckCase[] = writeFaults.flatMap((fault) => {
      const begin = table[fault](write);
      return begin === null ? [] : [{ n, operation, subject, fault, begin }];
    });
    if (next === undefined || isWrite(next) || next.calls.length === 0) return cases;
    const begin = whileHeld(write, "after_commit", loseOneCall);
    return [
      ...cases,
      { n, operation: next.operation, subject: subjectOf(next), fault: "node-down" as const, begin },
    ];
  });
}

/** The outcome of a case that has no event. */
const withoutEvent = { holds: [], arrival: null };

function atWrite(
  { operation, request: { occurrences } }: PlannedWrite,
  point: ApiFaultPoint,
  fault: Pick<FaultRequest & { layer: "api" }, "action" | "delay_ms">,
): Begin {
  return withFault({ layer: "api", point, ...fault, match: { operation, occurrence: occurrences[point] } });
}

function atRelayer(
  { operation, request: { occurrences } }: PlannedWrite,
  fault: Pick<FaultRequest & { layer: "relayer" }, "action" | "point">,
): Begin | null {
  const kind = relayed[operation];
  if (kind === undefined) return null;
  return withFault({ layer: "relayer", ...fault, match: { kind, occurrence: occurrences.after_commit } });
}

/** Sets a fault, which has acted if it has a hit after the run. */
function withFault(fault: FaultRequest): Begin {
  return async ({ sandbox }) => {
    await sandbox.faults.set(fault);
    return async () => ({ reached: sandbox.faults.list().some(({ hits }) => hits > 0), ...withoutEvent });
  };
}

/**
 * Holds a write at a point while a step runs.
 *
 * @param step - returns whether it could act.
 */
function whileHeld(
  { operation, request: { occurrences } }: PlannedWrite,
  point: ApiFaultPoint,
  step: (run: DisturbedRun) => Promise<boolean>,
): Begin {
  return async (run) => {
    const { faults, skipWaitsDuring } = run.sandbox;
    const match = { operation, occurrence: occurrences[point] };
    await faults.set({ layer: "api", point, action: "delay", delay_ms: heldMs, match });
    const isHeld = () => faults.list()[0]?.hits === 1;
    const acting = (async () => {
      while (!isHeld() && !run.ended.aborted) await wait(lookMs, run.ended);
      if (!isHeld()) return false;
      try {
        return await step(run);
      } finally {
        await skipWaitsDuring(async () => {});
      }
    })();
    // The error is thrown after the run.
    acting.catch(() => {});
    return async () => ({ reached: await acting, ...withoutEvent });
  };
}

async function loseOneCall({ sandbox }: DisturbedRun): Promise<boolean> {
  await sandbox.faults.set("node-down", { caller: "api", count: 1 });
  return true;
}

/** Removes the blocks with the reconciled payments of a purchase. */
async function removePayments(
  { request }: PlannedWrite,
  { sandbox, firstBlock }: DisturbedRun,
): Promise<boolean> {
  const purchase = await sandbox.store.get("purchases", subjectOf(request) ?? "");
  const blocks = (purchase?.value.receipts ?? []).map(({ block_number }) => block_number);
  const oldest = Math.min(...blocks.filter((block) => block > firstBlock));
  if (!Number.isFinite(oldest)) return false;
  const newest = Number(await sandbox.chain.client.getBlockNumber({ cacheTime: 0 }));
  await sandbox.faults.set("reorg", { depth: newest - oldest + 1 });
  return true;
}

/** Ends the credentials of the client after a write, if it sends another request with one. */
function endCredentials(write: PlannedWrite, field: "expires_at" | "revoked_at"): Begin | null {
  if (write.next === undefined || write.next.caller === "anyone") return null;
  return whileHeld(write, "after_commit", async ({ sandbox }) => await endAll(sandbox, field));
}

async function endAll({ store, clock }: Sandbox, field: "expires_at" | "revoked_at"): Promise<boolean> {
  const now = await clock.now();
  const credentials = await store.list("credentials", {});
  const changes = credentials
    .filter(({ value }) => !isOwnAccount(value.account) && value.revoked_at === null)
    .map(
      ({ key, value, revision }): Change => ({
        kind: "update",
        collection: "credentials",
        key,
        value: { ...value, [field]: now },
        revision,
      }),
    );
  await store.commit([], () => changes);
  return changes.length > 0;
}
