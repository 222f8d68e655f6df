import { performance } from "node:perf_hooks";
import { z } from "zod";
import { messageOf } from "../../protocol/coded-error.ts";
import { AbortController, AbortSignal } from "../../protocol/globals.ts";
import { requestAccess } from "../../sandbox/client/access/request-access.ts";
import type { Sandbox } from "../../sandbox/create-sandbox.ts";
import { fetchDirect } from "../../sandbox/lib/http/direct/fetch-direct.ts";
import { readJson } from "../../sandbox/lib/read-json.ts";
import { endsWithin, wait } from "../../sandbox/lib/time/timers.ts";
import type { Snapshot } from "../../sandbox/snapshots/snapshot.ts";
import type { CheckCase, Disturbance } from "./check-case.ts";
import { type ClientRequest, readClientRequests } from "./client-requests.ts";
import { type Effects, readEffects } from "./effects.ts";
import { type CleanEvent, watchEvents } from "./event-cases.ts";

/** Runs the client once: returns, or resolves, when it has succeeded, and throws, or rejects, with the reason when it has failed. */
export type RunClient<S extends Sandbox> = (sandbox: S, signal: AbortSignal) => unknown;

/** The effects and requests of one run of the client. */
export interface Observation extends Disturbance {
  /** Why the client failed, as a clause; null if it succeeded. */
  failure: string | null;
  requests: readonly ClientRequest[];
  effects: Effects;
  /** The figures that the client has last read, and that are no longer true. */
  stale: readonly StaleFigure[];
  /** The events that went to the client's receiver, of a run without a fault. */
  events: readonly CleanEvent[];
  ms: number;
}

/** Runs a client on one sandbox, each time from the same state. */
export class ClientRuns<S extends Sandbox> implements AsyncDisposable {
  readonly #open: () => Promise<S>;
  readonly #given: (sandbox: S) => Promise<unknown>;
  readonly #run: RunClient<S>;
  readonly #timeoutMs: number;
  readonly #signal: AbortSignal | undefined;
  #started: { sandbox: S; start: Snapshot; firstBlock: number } | null = null;

  constructor(options: {
    open: () => Promise<S>;
    given: (sandbox: S) => Promise<unknown>;
    run: RunClient<S>;
    timeoutMs: number;
    /** Ends the runs when it aborts. */
    signal?: AbortSignal | undefined;
  }) {
    this.#open = options.open;
    this.#given = options.given;
    this.#run = options.run;
    this.#timeoutMs = options.timeoutMs;
    this.#signal = options.signal;
  }

  /**
   * Runs the client from the start, disturbed as in a case or not at all.
   *
   * @param inspect - is called with the sandbox before anything of the run is gone.
   */
  async observe<T>(
    checked: Pick<CheckCase, "begin"> | null,
    inspect: (observed: Observation, sandbox: S) => Promise<T>,
  ): Promise<T> {
    this.#signal?.throwIfAborted();
    const { sandbox, firstBlock } = await this.#restart();
    const ended = new AbortController();
    const events = checked === null ? watchEvents(sandbox) : () => [];
    const endCase = await checked?.begin({ sandbox, firstBlock, ended: ended.signal });
    const began = performance.now();
    const failure = await this.#runOnce(sandbox);
    const ms = Math.round(performance.now() - began);
    ended.abort();
    this.#signal?.throwIfAborted();
    const disturbance = (await endCase?.()) ?? { reached: true, holds: [], arrival: null };
    // A write that was slow or held for a client that has given up ends first: it may still have an effect.
    await sandbox.skipWaitsDuring(async () => await untilIdle(sandbox, this.#timeoutMs));
    await sandbox.faults.clear();
    const requests = await readClientRequests(sandbox);
    const effects = await readEffects(sandbox);
    const stale = failure === null ? await findStaleFigures(requests, sandbox) : [];
    return await inspect(
      { ...disturbance, failure, requests, effects, stale, events: events(), ms },
      sandbox,
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#started?.sandbox.close();
  }

  /** Returns the sandbox in the state of the start: restored, or a new one if the client has ended it or its chain. */
  async #restart() {
    const started = this.#started;
    if (started !== null) {
      try {
        await started.sandbox.skipWaitsDuring(async () => {
          await endDeliveries(started.sandbox);
          await started.start.restore();
        });
        return started;
      } catch {
        this.#started = null;
        await started.sandbox.close().catch(() => undefined);
      }
    }
    const sandbox = await this.#open();
    this.#started = { sandbox, start: await prepare(sandbox, this.#given), firstBlock: 0 };
    this.#started.firstBlock = Number(await sandbox.chain.client.getBlockNumber({ cacheTime: 0 }));
    // The request log still has what the given state needed.
    await this.#started.start.restore();
    return this.#started;
  }

  /** Returns why the client failed; null if it succeeded. */
  async #runOnce(sandbox: S): Promise<string | null> {
    const timeout = new AbortController();
    const signal = AbortSignal.any([timeout.signal, ...(this.#signal === undefined ? [] : [this.#signal])]);
    const run = async () => await this.#run(sandbox, signal);
    const running = run().then(
      () => null,
      // The first line of a message that has more, as of a failed assertion.
      (error: unknown) => (messageOf(error).split("\n", 1)[0] ?? "").replace(/\.$/, ""),
    );
    const sandboxEnded = sandbox.ended.then((reason) => `it ended the sandbox: ${reason}`);
    const first = Promise.race([running, sandboxEnded]);
    if (await endsWithin(first, this.#timeoutMs)) return await first;
    timeout.abort();
    await endsWithin(running, this.#timeoutMs);
    return `it did not end within ${this.#timeoutMs / 1_000} s`;
  }
}

async function prepare<S extends Sandbox>(
  sandbox: S,
  given: (sandbox: S) => Promise<unknown>,
): Promise<Snapshot> {
  try {
    await given(sandbox);
    return await sandbox.snapshot();
  } catch (error) {
    await sandbox.close();
    throw error;
  }
}

/** Ends automatic deliveries without sending anything: one that a restore ends would delay those of the next run. */
async function endDeliveries(sandbox: Sandbox): Promise<void> {
  if (!sandbox.settings.autoDeliver) return;
  const ended = { status_code: 410, error: null, response_body: null, retry_after: null, duration_ms: 0 };
  sandbox.interceptDeliveries(async () => ended);
  try {
    await sandbox.deliverAll();
  } finally {
    sandbox.interceptDeliveries(null);
  }
}

/** Resolves when no request is in progress. */
async function untilIdle({ requestLog }: Sandbox, timeoutMs: number): Promise<void> {
  const until = performance.now() + timeoutMs;
  while (requestLog.inProgress().length > 0 && performance.now() < until) await wait(3);
}

const purchaseSchema = z.object({
  id: z.string(),
  program: z.string(),
  status: z.string(),
  payment_status: z.string(),
  figures: z.object({
    paid: z.string(),
    outstanding: z.string(),
    refunded: z.string(),
    reconciled: z.string(),
  }),
});
const answerSchema = z.union([
  purchaseSchema,
  z.object({ purchase: purchaseSchema }).transform(({ purchase }) => purchase),
]);

type PurchaseFigures = z.output<typeof purchaseSchema>;

/** A figure of which the client has another value than the chain. */
interface StaleFigure {
  purchase: string;
  /** The field, as in `paid`. */
  field: string;
  /** The value that the client has last read. */
  read: string;
  /** The value that the API answers now. */
  actual: string;
}

/** Returns the figures of purchases that the client has last read, in any answer, and that differ from those of the chain now. */
async function findStaleFigures(
  requests: readonly ClientRequest[],
  sandbox: Sandbox,
): Promise<StaleFigure[]> {
  const last = new Map<string, PurchaseFigures>();
  for (const { status, answer } of requests.toSorted(byEnd)) {
    if (status === null || status >= 300 || answer === null) continue;
    const { data } = answerSchema.safeParse(readJson(answer));
    if (data !== undefined) last.set(data.id, data);
  }
  const found: StaleFigure[] = [];
  for (const account of sandbox.description.accounts) {
    const known = [...last.values()].filter(({ program }) => program === account.program);
    if (known.length === 0) continue;
    const { api } = sandbox.description.urls;
    const { credential } = await requestAccess(api, account.key, fetchDirect);
    for (const before of known) {
      const response = await fetchDirect(
        `${api}/v1/routing/programs/${account.program}/purchases/${before.id}`,
        {
          headers: { authorization: `Bearer ${credential}` },
        },
      );
      found.push(...compare(before, answerSchema.parse(await response.json())));
    }
  }
  return found;
}

function byEnd(left: ClientRequest, right: ClientRequest): number {
  return left.startedAt + left.durationMs - right.startedAt - right.durationMs;
}

function compare(before: PurchaseFigures, now: PurchaseFigures): StaleFigure[] {
  const flat = ({ status, payment_status, figures }: PurchaseFigures) =>
    Object.entries({ ...figures, status, payment_status });
  const actual = new Map(flat(now));
  return flat(before).flatMap(([field, read]) => {
    const value = actual.get(field) ?? "";
    return value === read ? [] : [{ purchase: before.id, field, read, actual: value }];
  });
}
