import { once } from "node:events";
import { connect } from "node:net";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { messageOf } from "../../protocol/coded-error.ts";
import { requestLogLimits } from "../../sandbox/activity/request-log.ts";
import type { Sandbox } from "../../sandbox/create-sandbox.ts";
import { SandboxError } from "../../sandbox/lib/errors/sandbox-error.ts";
import { showValue } from "../../sandbox/lib/errors/show-value.ts";
import { bareHost } from "../../sandbox/lib/http/pin-receiver.ts";
import { requireTraceFolder } from "../../sandbox/trace/write-trace.ts";
import { meantName, orList } from "../../server/lib/wording.ts";
import type { CaseFault, CheckCase } from "./check-case.ts";
import { ClientRuns, type Observation, type RunClient } from "./client-runs.ts";
import { compareEffects, effectNames } from "./effects.ts";
import { type CleanEvent, casesOfEvents } from "./event-cases.ts";
import { type CaseVerdict, type CleanRuns, judge, verdicts } from "./judge.ts";
import { type CleanWrite, casesOfWrites, cleanWritesOf } from "./write-cases.ts";

/** The options of {@link checkClient}. */
export interface CheckClientOptions<S extends Sandbox> {
  /**
   * Runs your client once: it returns or resolves when the client has succeeded, and throws or rejects when it has failed. The signal aborts when the run has taken
   * longer than `timeoutMs`.
   */
  run: RunClient<S>;
  /** Creates the state from which every run starts; by default it is that of a fresh sandbox. */
  given?: (sandbox: S) => Promise<unknown>;
  /** Checks only the cases whose `operation/fault` contains this text, such as `executeRefund` or `answer-lost`. */
  only?: string;
  /** The number of times that each case is run; by default once. */
  repeat?: number;
  /** The number of sandboxes that run cases at the same time; by default one. */
  jobs?: number;
  /** The longest time that a run may take, in milliseconds; by default half a minute. */
  timeoutMs?: number;
  /** Whether a client that stops without acting twice fails the check; false by default. */
  strict?: boolean;
  /** The folder for the traces of the cases that are not safe; by default none are written. */
  traces?: string;
  /** Ends the check when it aborts. */
  signal?: AbortSignal;
  /** Called after each case. */
  onProgress?: (progress: CheckProgress) => void;
}

/** The progress of a check. */
export interface CheckProgress {
  done: number;
  all: number;
  /** How long the other cases will take, estimated from those that are done, in milliseconds. */
  leftMs: number;
  checked: CheckedCase;
}

/** The result of one case. */
export interface CheckedCase {
  /** The number of the write or the event of the clean run. */
  n: number;
  /** The API operation, or the type of the event. */
  operation: string;
  fault: CaseFault;
  verdict: CaseVerdict;
  /** The reason for the verdict, in one sentence. */
  cause: string;
  /** The file with the trace of the run; null if none was written. */
  trace: string | null;
  /** Why the trace of the run was not written; null if it was, or was not asked for. */
  trace_problem: string | null;
  ms: number;
}

/** The result of checking a client. */
export interface ClientReport {
  clean: {
    writes: CleanWrite[];
    events: CleanEvent[];
    /** How a second run without a fault differed from the first one, in sentences. */
    differences: string[];
    ms: number;
  };
  cases: CheckedCase[];
  totals: { [V in CaseVerdict]: number };
  passed: boolean;
}

/** The default of `timeoutMs`. */
const defaultTimeoutMs = 30_000;

/**
 * Runs a client once for each thing that can go wrong with its requests and events, from the same state each time, and compares what is on the
 * chain and in the records afterwards with a clean run.
 *
 * @param open - starts a sandbox.
 * @throws SandboxError client_unusable when the client fails without a fault, sends no write, or does something else each time;
 * argument_invalid for options, or when no case matches `only`; trace_refused when the folder of the traces cannot be written to.
 */
export async function checkClientOn<S extends Sandbox>(
  open: () => Promise<S>,
  options: CheckClientOptions<S>,
): Promise<ClientReport> {
  const { run, given = async () => {}, jobs = 1, repeat = 1, timeoutMs = defaultTimeoutMs, signal } = options;
  requireOptions(options, { jobs, repeat, timeoutMs });
  if (options.traces !== undefined) await requireTraceFolder(options.traces);
  const openRuns = () => new ClientRuns({ open, given, run, timeoutMs, signal });
  await using first = openRuns();
  const clean = await first.observe(null, async (observed, { settings }) => {
    if (jobs > 1) await requireSharedReceiver(observed, settings.receiverUrl);
    return requireUsable(observed);
  });
  const second = await first.observe(null, async (observed) => requireUsable(observed));
  const { unequalSums, differences } = compareClean(clean, second);
  const writes = cleanWritesOf(clean.requests);
  const found = [...casesOfWrites(writes), ...casesOfEvents(clean.events)];
  const cases = select(found, { only: options.only, repeat });
  const held: HeldRuns = new Map();
  const results = new Array<CheckedCase>(cases.length);
  const began = performance.now();
  const queue = cases.entries();
  let done = 0;
  const work = async (runs: ClientRuns<S>) => {
    // All workers take from one queue.
    for (const [index, checked] of queue) {
      const result = await checkCase(runs, checked, held, {
        clean: { first: clean, second, unequalSums },
        traces: options.traces,
        index,
      });
      results[index] = result;
      done += 1;
      const leftMs = ((performance.now() - began) / done) * (cases.length - done);
      options.onProgress?.({ done, all: cases.length, leftMs, checked: result });
    }
  };
  const extra = Array.from({ length: Math.min(jobs, cases.length) - 1 }, async () => {
    await using runs = openRuns();
    await work(runs);
  });
  await Promise.all([work(first), ...extra]);
  return reportOf(
    results,
    {
      writes: writes.map(({ n, operation, subject }) => ({ n, operation, subject })),
      events: [...clean.events],
      differences,
      ms: clean.ms,
    },
    options.strict ?? false,
  );
}

/** The runs in which the event of forgeries is held, each by what begins it. */
type HeldRuns = Map<CheckCase["control"], Promise<Observation>>;

interface CaseContext {
  clean: Omit<CleanRuns, "held">;
  traces: string | undefined;
  index: number;
}

/** Runs and judges a case; again, when only a run in which its event is held can tell what the client does anyway. */
async function checkCase<S extends Sandbox>(
  runs: ClientRuns<S>,
  checked: CheckCase,
  heldRuns: HeldRuns,
  context: CaseContext,
): Promise<CheckedCase> {
  const { control } = checked;
  const held = (await heldRuns.get(control)) ?? null;
  const result = await runs.observe(checked, async (observed, sandbox) =>
    conclude(checked, observed, { ...context, held, sandbox }),
  );
  if (result !== null) return result;
  if (!heldRuns.has(control))
    heldRuns.set(
      control,
      runs.observe(control === undefined ? null : { begin: control }, async (observed) => observed),
    );
  return await checkCase(runs, checked, heldRuns, context);
}

/** Judges the run of a case, and writes its trace if it is not safe; returns null if it cannot be judged yet. */
async function conclude(
  checked: CheckCase,
  observed: Observation,
  { clean, held, sandbox, traces, index }: CaseContext & Pick<CleanRuns, "held"> & { sandbox: Sandbox },
): Promise<CheckedCase | null> {
  const { n, operation, fault } = checked;
  const judged = judge(checked, observed, { ...clean, held });
  if (judged === null) return null;
  const { verdict, cause } = judged;
  const isWritten = traces !== undefined && verdict !== "safe" && verdict !== "not_reached";
  const result = { n, operation, fault, verdict, cause, trace: null, trace_problem: null, ms: observed.ms };
  if (!isWritten) return result;
  const trace = join(traces, `${index + 1}-${operation}-${fault}.trace.html`);
  try {
    await sandbox.trace(trace, { test: `${operation} (${n}), ${fault}: ${verdict}, ${cause}` });
    return { ...result, trace };
  } catch (error) {
    // A full disk must not take the report.
    return { ...result, trace_problem: messageOf(error) };
  }
}

function reportOf(cases: CheckedCase[], clean: ClientReport["clean"], strict: boolean): ClientReport {
  const count = (verdict: CaseVerdict) => cases.filter((one) => one.verdict === verdict).length;
  const totals = Object.assign({}, ...verdicts.map((verdict) => ({ [verdict]: count(verdict) })));
  const good: readonly CaseVerdict[] = strict ? ["safe"] : ["safe", "stopped"];
  return { clean, cases, totals, passed: cases.every(({ verdict }) => good.includes(verdict)) };
}

/** @throws SandboxError client_unusable when nothing can be compared with this run. */
function requireUsable(observed: Observation): Observation {
  const { failure, requests, events } = observed;
  if (failure !== null)
    throw unusable(`The client failed without a fault: ${failure}. Have it succeed first.`);
  if (requests.length >= requestLogLimits.requests)
    throw unusable(
      `The client sent ${requestLogLimits.requests} requests or more, and only so many are compared. Have it do less in one run.`,
    );
  if (requests.length === 0)
    throw unusable(
      "The client succeeded and sent no request to the API. Have it send its requests to the URL in ROUTING_API_URL.",
    );
  if (cleanWritesOf(requests).length === 0)
    throw unusable("The client succeeded, and no write of it did. Have it create, pay or refund something.");
  const [event] = events;
  if (event !== undefined && events.every(({ refusal }) => refusal !== null))
    throw unusable(
      `The receiver of the client accepted no event without a fault: ${event.type} was not, because ${event.refusal}. Have it respond with 2xx.`,
    );
  return observed;
}

/** @throws SandboxError argument_invalid when the client itself opens the receiver, which only one client at a time can. */
async function requireSharedReceiver({ events }: Observation, url: string | undefined): Promise<void> {
  if (url === undefined || events.every(({ refusal }) => refusal !== null) || (await isListening(url)))
    return;
  throw new SandboxError(
    "argument_invalid",
    `The client itself listens at ${url} (the option receiverUrl), so only one run at a time is possible. Leave out the option jobs, or have the client pin a receiver with a port of its own.`,
  );
}

async function isListening(url: string): Promise<boolean> {
  const receiver = new URL(url);
  const { protocol, port } = receiver;
  const socket = connect({
    host: bareHost(receiver),
    port: Number(port || (protocol === "https:" ? 443 : 80)),
  });
  try {
    await once(socket, "connect");
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

/** @throws SandboxError client_unusable when the counts of effects differ. */
function compareClean(
  clean: Observation,
  second: Observation,
): Pick<CleanRuns, "unequalSums"> & { differences: string[] } {
  const { more, fewer } = compareEffects(second.effects, clean.effects);
  const unequal = [...more, ...fewer];
  const counted = unequal.find((kind) => clean.effects[kind].ids.length !== second.effects[kind].ids.length);
  if (counted !== undefined)
    throw unusable(
      `Two runs of the client without a fault had different effects: ${clean.effects[counted].ids.length} and ${second.effects[counted].ids.length} ${effectNames[counted]}s. Have it do the same in every run.`,
    );
  const differences = unequal.map(
    (kind) =>
      `Two runs without a fault had ${effectNames[kind]}s of ${clean.effects[kind].sum} and ${second.effects[kind].sum} base units, so only their number is compared.`,
  );
  return { unequalSums: unequal, differences };
}

const optionNames: { readonly [N in keyof Required<CheckClientOptions<Sandbox>>]: null } = {
  run: null,
  given: null,
  only: null,
  repeat: null,
  jobs: null,
  timeoutMs: null,
  strict: null,
  traces: null,
  signal: null,
  onProgress: null,
};

/** @throws SandboxError argument_invalid */
function requireOptions(
  { run, ...others }: CheckClientOptions<never>,
  numbers: { jobs: unknown; repeat: unknown; timeoutMs: unknown },
): void {
  const unknown = Object.keys(others).find((name) => !Object.hasOwn(optionNames, name));
  if (unknown !== undefined) {
    const names = Object.keys(optionNames);
    const meant = meantName(unknown, names);
    throw new SandboxError(
      "argument_invalid",
      `There is no option ${unknown}. ${meant === undefined ? `Use ${orList(names)}.` : `Did you mean ${meant}?`}`,
    );
  }
  if (typeof run !== "function")
    throw new SandboxError(
      "argument_invalid",
      `The option run is ${showValue(run)}. Pass a function that runs your client once.`,
    );
  if (others.given !== undefined && typeof others.given !== "function")
    throw new SandboxError(
      "argument_invalid",
      `The option given is ${showValue(others.given)}. Pass a function that creates the state, such as async ({ given }) => await given.merchant({ state: "funded" }).`,
    );
  for (const [name, value] of Object.entries(numbers))
    if (!Number.isInteger(value) || Number(value) < 1)
      throw new SandboxError(
        "argument_invalid",
        `The option ${name} is ${showValue(value)}. Pass a whole number of at least 1.`,
      );
}

/** @throws SandboxError argument_invalid when none is left. */
function select(
  found: readonly CheckCase[],
  { only, repeat }: { only: string | undefined; repeat: number },
): CheckCase[] {
  const chosen = found.filter(({ operation, fault }) => `${operation}/${fault}`.includes(only ?? ""));
  if (chosen.length === 0) {
    const operations = [...new Set(found.map(({ operation }) => operation))];
    const faults = [...new Set(found.map(({ fault }) => fault))];
    const pairs = found.map(({ operation, fault }) => `${operation}/${fault}`);
    const meant = meantName(only ?? "", [...operations, ...faults, ...pairs]);
    const remedy =
      meant === undefined
        ? `Use ${orList(operations)}, or a fault: ${orList(faults)}.`
        : `Did you mean ${meant}?`;
    throw new SandboxError(
      "argument_invalid",
      `No case has the text ${JSON.stringify(only)}, the option only, in its operation/fault. ${remedy}`,
    );
  }
  return chosen.flatMap((one) => Array.from({ length: repeat }, () => one));
}

function unusable(message: string): SandboxError {
  return new SandboxError("client_unusable", message);
}
