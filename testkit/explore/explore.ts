import { messageOf } from "../../protocol/coded-error.ts";
import { AbortController } from "../../protocol/globals.ts";
import { hashJson } from "../../protocol/values/canonical-json.ts";
import { readMining } from "../../sandbox/chain/clock/mining.ts";
import type { components } from "../../sandbox/client/api-client.ts";
import type { Sandbox } from "../../sandbox/create-sandbox.ts";
import { SandboxError } from "../../sandbox/lib/errors/sandbox-error.ts";
import { defaultGasBudgetWei } from "../../sandbox/options/defaults.ts";
import { requireFresh } from "../../sandbox/scenarios/require-fresh.ts";
import type { Scenario } from "../../sandbox/scenarios/scenario.ts";
import { writeScenario } from "../../sandbox/scenarios/scenario-file.ts";
import { givenAccounts } from "../../sandbox/service/keys.ts";
import type { Snapshot } from "../../sandbox/snapshots/snapshot.ts";
import { RequestSender } from "../scenario/repeat/send-request.ts";
import { ExplorationError } from "./exploration-error.ts";
import { freshModel } from "./model.ts";
import { arbitraryStep, type ResolvedStep, type StepKind, type WalkStep } from "./moves/step.ts";
import { deliver } from "./moves/surroundings.ts";
import { resolveStep, takeStep } from "./moves/take-step.ts";
import {
  type CheckedState,
  type Exploration,
  type ExploreOptions,
  type ExploreSettings,
  readExploreOptions,
  requireWritable,
  type WalkCounts,
} from "./options.ts";
import { readAnswer } from "./rules.ts";
import { shortenSequence } from "./shorten-sequence.ts";
import { verifyAll, verifyPurchase } from "./verify.ts";
import { checkSignature, countAnswer, Walk, WalkDifference, type WalkedSandbox } from "./walk.ts";

/** The parts of a sandbox that an exploration needs. */
export type ExploredSandbox = WalkedSandbox & Pick<Sandbox, "settings" | "store" | "faults" | "fingerprint">;

/** The number of steps between two comparisons of everything; the purchase of a step is compared after it. */
export const verifiedEvery = 10;

/**
 * Takes random legal and illegal steps of many purchases, with faults, and compares every answer, the records, the chain and the outbox with a
 * model of the documentation.
 *
 * @param signal - ends the exploration when it is aborted: the step in progress is awaited, your own functions are not.
 * @throws ExplorationError with the shortest sequence that was found; SandboxError argument_invalid, scenario_refused; the signal's reason.
 */
export async function explore(
  sandbox: ExploredSandbox,
  options: ExploreOptions = {},
  signal: AbortSignal = new AbortController().signal,
): Promise<Exploration> {
  const settings = readExploreOptions(options, sandbox.description.seed);
  if (settings.scenario !== null) await requireWritable(settings.scenario);
  await requireExplorable(sandbox);
  const origin = await sandbox.snapshot();
  try {
    return await new ExplorationRun(sandbox, settings, signal).run();
  } catch (error) {
    // A failure because the sandbox is closed is no difference of the service.
    signal.throwIfAborted();
    throw error;
  } finally {
    if (!isClosed(signal)) await origin.restore();
  }
}

function isClosed({ aborted, reason }: AbortSignal): boolean {
  return aborted && reason instanceof SandboxError && reason.code === "closed";
}

async function requireExplorable(sandbox: ExploredSandbox): Promise<void> {
  const { settings, chain, store, faults } = sandbox;
  const { confirmations, autoDeliver, rateLimit, gasBudgetWei } = settings;
  const refuse = (what: string, remedy = "Start a sandbox without it.") =>
    new SandboxError("argument_invalid", `explore cannot be used with ${what}. ${remedy}`);
  if (confirmations !== 1) throw refuse(`confirmations ${confirmations}`);
  if (autoDeliver) throw refuse("autoDeliver");
  if (rateLimit !== undefined) throw refuse("rateLimit");
  if (gasBudgetWei < defaultGasBudgetWei)
    throw refuse(`gasBudgetWei ${gasBudgetWei}, which is below ${defaultGasBudgetWei}`);
  await requireFresh(
    { settings, chain, store },
    "and explore begins with a fresh one. Explore before anything else, or in another sandbox.",
  );
  const { automine, interval } = await readMining(chain.client);
  if (!automine)
    throw refuse(
      `mining ${interval === null ? "never" : `every ${interval} seconds`}`,
      "Mine at each transaction, which is the default.",
    );
  if (faults.list().length > 0) throw refuse("faults that are set", "Clear the faults first.");
}

/** A state from which walks begin. */
interface Start {
  walk: Walk;
  snapshot: Snapshot;
}

/** The steps that every walk begins with: the credential of another program, and an enrolled merchant. */
const preamble: readonly ResolvedStep[] = (
  [
    ["issueForeign", null],
    ["createMerchant", null],
    ["enroll", 1],
    ["confirmEnrollment", 1],
  ] as const
).map(([kind, about], id) => ({
  kind,
  about,
  id,
  subject: 0,
  amount: "all",
  mistake: "none",
  choice: 1,
  fault: "none",
}));

const restores = ["snapshot", "restore"] as const;
const resends = ["resend"] as const;

class ExplorationRun {
  readonly #sandbox: ExploredSandbox;
  readonly #settings: ExploreSettings;
  readonly #signal: AbortSignal;
  readonly #sender: RequestSender;

  constructor(sandbox: ExploredSandbox, settings: ExploreSettings, signal: AbortSignal) {
    this.#sandbox = sandbox;
    this.#settings = settings;
    this.#signal = signal;
    this.#sender = new RequestSender(sandbox.description);
  }

  async run(): Promise<Exploration> {
    const { steps, seed, stepsPerWalk, onProgress } = this.#settings;
    const bare = await this.#begin();
    const begun = await this.#take(bare, preamble);
    if (begun.difference !== null) throw await this.#fail(bare, begun);
    const start = { walk: begun.walk, snapshot: await this.#sandbox.snapshot() };
    // Loaded only here: no other part of a sandbox needs it.
    const fc = await import("fast-check");
    const numRuns = Math.ceil(steps / stepsPerWalk);
    const length = { minLength: stepsPerWalk, maxLength: stepsPerWalk };
    const stepsOfWalk = fc.array(arbitraryStep(fc, this.#omitted(start.walk)), length);
    const walks = fc.sample(stepsOfWalk, { seed: toInteger(seed), numRuns });
    const counts: WalkCounts = {};
    const digests: string[] = [];
    let done = 0;
    for (const walk of walks) {
      const planned = walk.slice(0, steps - done);
      const taken = await this.#take(start, planned);
      if (taken.difference !== null) throw await this.#fail(bare, taken);
      addCounts(counts, taken.walk.counts);
      const { digest } = await this.#sandbox.fingerprint();
      digests.push(hashJson([...taken.walk.transcript, digest]));
      done += planned.length;
      await this.#own(() => onProgress(done, steps));
    }
    return { steps: done, seed, counts, digest: hashJson(digests) };
  }

  /** The kinds of steps that mean nothing to what is compared. */
  #omitted({ mayFailDeliveries }: Walk): StepKind[] {
    const hasBackend = this.#settings.check !== null;
    // A backend does not see a restore, unless its state is a part of the sandbox.
    const hasRestores = !hasBackend || this.#sandbox.settings.parts.length > 0;
    const hasResends = hasBackend && !mayFailDeliveries;
    return [...(hasRestores ? [] : restores), ...(hasResends ? [] : resends)];
  }

  /** Issues the credential of the walks. */
  async #begin(): Promise<Start> {
    // Not an account of the description: `sandbox.client` has a credential of that, which this would revoke.
    const { seed, accounts } = this.#sandbox.description;
    const [own] = givenAccounts(seed, accounts);
    if (own === undefined) throw new Error("A sandbox must have an account.");
    const walk = new Walk(this.#sandbox, {
      sender: this.#sender,
      credentials: { own: "", foreign: null },
      model: freshModel(await this.#sandbox.chain.clock.now()),
      steps: [],
      answers: [],
      transcript: [],
    });
    walk.kind = "issueAccess";
    walk.credentials.own = await walk.issue(own.id);
    return { walk, snapshot: await this.#sandbox.snapshot() };
  }

  /** Takes the steps of one walk, from a start, until something differs. */
  async #take(
    { snapshot, walk: begun }: Start,
    planned: readonly (WalkStep | ResolvedStep)[],
    isShortening = false,
  ): Promise<Taken> {
    await snapshot.restore();
    await this.#own(this.#settings.reset);
    const walk = new Walk(this.#sandbox, { ...begun, sender: this.#sender });
    const steps: ResolvedStep[] = [];
    try {
      for (const [index, plan] of planned.entries()) {
        this.#signal.throwIfAborted();
        const step = "id" in plan ? plan : resolveStep(walk.model, plan, preamble.length + index);
        const lines = walk.steps.length;
        try {
          await this.#takeOne(walk, step);
          const isLast = index + 1 === planned.length;
          if (isLast || (!isShortening && (index + 1) % verifiedEvery === 0)) await verifyAll(walk);
          const isChecked = (index + 1) % this.#settings.checkEvery === 0;
          if (step.id >= preamble.length && (isLast || isChecked))
            await this.#check(walk, walk.steps.at(-1)?.title ?? "");
        } finally {
          if (walk.steps.length > lines) steps.push(step);
        }
      }
      return { walk, steps, difference: null };
    } catch (error) {
      if (error instanceof WalkDifference) return { walk, steps, difference: error };
      throw error;
    }
  }

  async #takeOne(walk: Walk, step: ResolvedStep): Promise<void> {
    walk.hasChanged = false;
    const purchase = await takeStep(walk, step);
    // A refused step changes nothing; the comparison of everything checks that.
    if (walk.hasChanged) await walk.followChain();
    if (walk.hasChanged && purchase !== null) await verifyPurchase(walk, purchase);
  }

  /** Delivers every event and calls the check of the caller. */
  async #check(walk: Walk, step: string): Promise<void> {
    const { check } = this.#settings;
    if (check === null) return;
    walk.kind = "check";
    while (walk.model.events.some(({ delivery }) => delivery === "undelivered"))
      await deliver(walk, { fault: "none", choice: 0 });
    // A receiver of the caller that did not accept an event at once has moved the time.
    if (!walk.mayFailDeliveries) await walk.followChain();
    const purchases: CheckedState["purchases"] = [];
    for (const purchase of walk.model.purchases) {
      const api = `GET ${walk.program}/purchases/${purchase.id}`;
      const line = { title: "Read a purchase", api, as: walk.credentials.own };
      purchases.push(toPurchase(await walk.read(line, "purchase", readAnswer(walk.model, purchase))));
    }
    try {
      await this.#own(() => check({ purchases, step }));
    } catch (cause) {
      this.#signal.throwIfAborted();
      const message = messageOf(cause);
      throw new WalkDifference(`After "${step}", your check`, checkSignature, "no error", message, { cause });
    }
  }

  /** Calls a function of the caller, which may never end. */
  async #own(call: () => unknown): Promise<void> {
    this.#signal.throwIfAborted();
    const aborted = Promise.withResolvers<never>();
    const abort = () => aborted.reject(this.#signal.reason);
    // The call may throw at once, and then nothing waits for this any more.
    aborted.promise.catch(() => undefined);
    this.#signal.addEventListener("abort", abort, { once: true });
    try {
      await Promise.race([call(), aborted.promise]);
    } finally {
      this.#signal.removeEventListener("abort", abort);
    }
  }

  /** Looks for the shortest sequence that fails in the same way, and writes it. */
  async #fail(bare: Start, first: Taken): Promise<ExplorationError> {
    let shortest = first;
    const fails = async (candidate: readonly ResolvedStep[]) => {
      const again = await this.#take(bare, candidate, true);
      if (again.difference?.signature !== first.difference?.signature) return null;
      shortest = again;
      return again.steps;
    };
    const own = first.steps.filter(({ id }) => id >= preamble.length);
    const repeated = await fails([...preamble, ...own]);
    const shortened = repeated === null ? null : await shortenSequence(repeated, fails);
    const { walk, difference } = shortest;
    const { seed, scenario: file } = this.#settings;
    const { settings } = this.#sandbox;
    const title = difference?.title ?? "";
    const scenario: Scenario = {
      format: "routing-sandbox-scenario",
      version: 1,
      title: `${title}: ${difference?.message}`,
      seed: settings.seed,
      programs: [...settings.programs],
      confirmations: settings.confirmations,
      gas_budget_wei: settings.gasBudgetWei.toString(),
      steps: walk.steps,
    };
    const unwritten = file === null ? null : await writeScenario(file, scenario).then(() => null, messageOf);
    const sequence = walk.steps.map((step, index) => `${step.title}: ${walk.answers[index]}`);
    const message = difference?.message ?? "";
    return new ExplorationError(
      {
        title,
        message,
        file,
        unwritten,
        cause: difference?.cause,
        isOfCheck: difference?.isOfCheck ?? false,
        shortened,
      },
      { sequence, scenario, seed },
    );
  }
}

/** A walk, those of its steps that did something, and what differed after the last one. */
interface Taken {
  walk: Walk;
  steps: readonly ResolvedStep[];
  difference: WalkDifference | null;
}

function toPurchase(view: unknown): components["schemas"]["Purchase"] {
  return JSON.parse(JSON.stringify(view));
}

function addCounts(all: WalkCounts, more: WalkCounts): void {
  for (const [kind, answers] of Object.entries(more))
    for (const [answer, times] of Object.entries(answers)) countAnswer(all, kind, answer, times);
}

/** fast-check takes a number of 32 bits. */
function toInteger(seed: string): number {
  return Number.parseInt(hashJson(seed).slice(2, 10), 16) | 0;
}
