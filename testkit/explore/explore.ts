import type { Hex } from "viem";
import { hashJson } from "../../protocol/values/canonical-json.ts";
import { toJson } from "../../protocol/values/json.ts";
import { readMining } from "../../sandbox/chain/clock/mining.ts";
import type { Sandbox } from "../../sandbox/create-sandbox.ts";
import { requireFresh } from "../../sandbox/hosts/recorder/require-fresh.ts";
import type { Scenario } from "../../sandbox/hosts/recorder/scenario.ts";
import { writeScenario } from "../../sandbox/hosts/recorder/scenario-file.ts";
import { SandboxError } from "../../sandbox/lib/errors/sandbox-error.ts";
import { defaultGasBudgetWei } from "../../sandbox/options/defaults.ts";
import type { components } from "../../sandbox/service/client/api-client.ts";
import { givenAccounts } from "../../sandbox/service/keys/keys.ts";
import type { Snapshot } from "../../sandbox/state/snapshot.ts";
import { RequestSender } from "../repeat/send-request.ts";
import { ExplorationError } from "./exploration-error.ts";
import { freshModel } from "./model.ts";
import { confirmEnrollment, createMerchant, enroll } from "./moves/merchants.ts";
import { deliver } from "./moves/surroundings.ts";
import { takeStep } from "./moves/take-step.ts";
import {
  type CheckedState,
  type ExploreOptions,
  type ExploreSettings,
  readExploreOptions,
  requireWritable,
} from "./options.ts";
import { answered, expectView } from "./rules.ts";
import { arbitraryStep, type Step } from "./step.ts";
import { verifyAll, verifyPurchase } from "./verify.ts";
import { count, Walk, type WalkCounts, WalkDifference, type WalkedSandbox } from "./walk.ts";

/** The result of an exploration in which everything was as documented. */
export interface Exploration {
  /** The number of steps that were taken. */
  steps: number;
  seed: string;
  /** For each kind of step, the number of times that it got each answer, as in `{ fileClaim: { "201": 12, "409 state_conflict": 9 } }`. */
  counts: WalkCounts;
  /** SHA-256 over every answer and the newest block of each walk: equal for equal seeds. */
  digest: Hex;
}

/** The parts of a sandbox that an exploration needs. */
export type ExploredSandbox = WalkedSandbox & Pick<Sandbox, "settings" | "store" | "faults">;

/** The number of steps between two comparisons of everything; the purchase of a step is compared after it. */
export const verifiedEvery = 10;

/** The number of candidates that each part of shortening tries at most. */
const mostCandidates = 300;

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
    const explorer = await Explorer.begin(sandbox, settings, signal);
    return await explorer.run();
  } catch (error) {
    // What fails because the sandbox is closed is no difference of the service.
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
  await requireFresh({ settings, chain, store });
  const { automine, interval } = await readMining(chain.client);
  if (!automine)
    throw refuse(
      `mining ${interval === null ? "never" : `every ${interval} seconds`}`,
      "Mine at each transaction, which is the default.",
    );
  if (faults.list().length > 0) throw refuse("faults that are set", "Clear the faults first.");
}

/** The state from which every walk begins. */
interface Start {
  walk: Walk;
  sender: RequestSender;
  snapshot: Snapshot;
}

class Explorer {
  readonly #sandbox: ExploredSandbox;
  readonly #settings: ExploreSettings;
  readonly #start: Start;
  readonly #signal: AbortSignal;

  private constructor(
    sandbox: ExploredSandbox,
    settings: ExploreSettings,
    start: Start,
    signal: AbortSignal,
  ) {
    this.#sandbox = sandbox;
    this.#signal = signal;
    this.#settings = settings;
    this.#start = start;
  }

  /** Issues the credentials and enrolls a merchant, once for all walks. */
  static async begin(
    sandbox: ExploredSandbox,
    settings: ExploreSettings,
    signal: AbortSignal,
  ): Promise<Explorer> {
    const sender = new RequestSender(sandbox.description);
    const { now } = sandbox.chain.clock;
    // Not the accounts of the description: `sandbox.client` has their credentials, which these would revoke.
    const { seed, accounts } = sandbox.description;
    const [own, other] = givenAccounts(seed, accounts);
    if (own === undefined) throw new Error("A sandbox must have an account.");
    const walk = new Walk(sandbox, {
      sender,
      credentials: { own: "", foreign: null },
      model: freshModel(await now()),
      steps: [],
      answers: [],
    });
    walk.kind = "issueAccess";
    walk.credentials.own = await issue(walk, own.id);
    if (other !== undefined) walk.credentials.foreign = await issue(walk, other.id);
    const plain: Step = { kind: "next", subject: 0, amount: "all", twist: "none", choice: 1, fault: "none" };
    await createMerchant(walk, plain);
    const [merchant] = walk.model.merchants;
    if (merchant === undefined) throw new Error("The first merchant must have been created.");
    await enroll(walk, plain, merchant);
    await confirmEnrollment(walk, plain, merchant);
    await walk.followChain();
    const start = { walk, sender, snapshot: await sandbox.snapshot() };
    return new Explorer(sandbox, settings, start, signal);
  }

  async run(): Promise<Exploration> {
    const { steps, seed, stepsPerWalk, onProgress } = this.#settings;
    // Loaded only here: no other part of a sandbox needs it.
    const fc = await import("fast-check");
    const numRuns = Math.ceil(steps / stepsPerWalk);
    const length = { minLength: stepsPerWalk, maxLength: stepsPerWalk };
    const walks = fc.sample(fc.array(arbitraryStep(fc), length), { seed: toInteger(seed), numRuns });
    const counts: WalkCounts = {};
    const digests: string[] = [];
    let done = 0;
    for (const walk of walks) {
      const taken = walk.slice(0, steps - done);
      const result = await this.#take(taken);
      if (result.difference !== null) throw await this.#fail(fc, taken.slice(0, result.taken), result);
      addCounts(counts, result.walk.counts);
      digests.push(await this.#digest(result.walk));
      done += taken.length;
      await this.#own(() => onProgress(done, steps));
    }
    return { steps: done, seed, counts, digest: hashJson(digests) };
  }

  /** Takes the steps of one walk, from the start, until something differs. */
  async #take(steps: readonly Step[]): Promise<Taken> {
    const { snapshot, walk: begun, sender } = this.#start;
    await snapshot.restore();
    await this.#own(this.#settings.reset);
    const walk = new Walk(this.#sandbox, { ...begun, sender });
    let taken = 0;
    try {
      for (const step of steps) {
        this.#signal.throwIfAborted();
        taken += 1;
        walk.hasChanged = false;
        const purchase = await takeStep(walk, step);
        const title = walk.steps.at(-1)?.title ?? "";
        // What was refused changes nothing, which is compared with everything else.
        if (walk.hasChanged) await walk.followChain();
        if (walk.hasChanged && purchase !== null) await verifyPurchase(walk, purchase);
        const isLast = taken === steps.length;
        if (isLast || taken % verifiedEvery === 0) await verifyAll(walk);
        if (isLast || taken % this.#settings.checkEvery === 0) await this.#check(walk, title);
      }
      return { walk, taken, difference: null };
    } catch (error) {
      if (error instanceof WalkDifference) return { walk, taken, difference: error };
      throw error;
    }
  }

  /** Delivers every event and calls the check of the caller. */
  async #check(walk: Walk, step: string): Promise<void> {
    const { check } = this.#settings;
    if (check === null) return;
    while (walk.model.events.some(({ delivery }) => delivery === "undelivered"))
      await deliver(walk, { fault: "none", choice: 0 });
    const purchases: CheckedState["purchases"] = [];
    for (const purchase of walk.model.purchases) {
      const api = `GET ${walk.program}/purchases/${purchase.id}`;
      const line = { title: "Read a purchase", api, as: walk.credentials.own };
      purchases.push(toPurchase(await walk.read(line, expectView(walk.model, purchase))));
    }
    try {
      await this.#own(() => check({ purchases, step }));
    } catch (cause) {
      this.#signal.throwIfAborted();
      const message = cause instanceof Error ? cause.message : String(cause);
      throw new WalkDifference(`After "${step}", your check`, "check", "no error", message, { cause });
    }
  }

  /** Calls a function of the caller, which may never end. */
  async #own(call: () => unknown): Promise<void> {
    this.#signal.throwIfAborted();
    const aborted = Promise.withResolvers<never>();
    const abort = () => aborted.reject(this.#signal.reason);
    this.#signal.addEventListener("abort", abort, { once: true });
    try {
      await Promise.race([call(), aborted.promise]);
    } finally {
      this.#signal.removeEventListener("abort", abort);
    }
  }

  /** Looks for the shortest sequence that fails in the same way, and writes it. */
  async #fail(
    fc: typeof import("fast-check"),
    steps: readonly Step[],
    first: Taken,
  ): Promise<ExplorationError> {
    const signature = first.difference?.signature;
    const fails = async (candidate: readonly Step[]) =>
      (await this.#take(candidate)).difference?.signature === signature;
    const dropped = await dropSteps(steps, fails);
    let candidates = 0;
    const property = fc.asyncProperty(
      fc.array(arbitraryStep(fc), { maxLength: dropped.length }),
      async (candidate) => {
        candidates += 1;
        return candidates > mostCandidates || !(await fails(candidate));
      },
    );
    // What is left is made simpler: nothing wrong, no fault, the whole amount.
    const { counterexample } = await fc.check(property, { examples: [[[...dropped]]], numRuns: 1 });
    const shortest = await this.#take(counterexample?.[0] ?? dropped);
    const { walk, difference } = shortest.difference === null ? first : shortest;
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
    if (file !== null) await writeScenario(file, scenario);
    const sequence = walk.steps.map((step, index) => `${step.title}: ${walk.answers[index]}`);
    const message = difference?.message ?? "";
    return new ExplorationError(
      { title, message, file, cause: difference?.cause },
      { sequence, scenario, seed },
    );
  }

  async #digest({ steps, answers }: Walk): Promise<string> {
    const block = await this.#sandbox.chain.client.getBlock({ blockTag: "latest" });
    const titles = steps.map(({ title }, index) => `${title}: ${answers[index]}`);
    return hashJson(toJson({ titles, block: block.hash }));
  }
}

/** A walk, how many of its steps were taken, and what differed after the last one. */
interface Taken {
  walk: Walk;
  taken: number;
  difference: WalkDifference | null;
}

/**
 * Drops steps as long as the rest fails: halves first, then ever fewer at once. fast-check drops one step after the other, which takes too many
 * walks of this length.
 */
async function dropSteps(
  steps: readonly Step[],
  fails: (steps: readonly Step[]) => Promise<boolean>,
): Promise<readonly Step[]> {
  let kept = steps;
  let candidates = 0;
  for (let size = Math.ceil(steps.length / 2); size > 0; size = Math.floor(size / 2))
    for (let end = kept.length; end > 0 && candidates < mostCandidates; end -= size) {
      const start = Math.max(0, end - size);
      const candidate = [...kept.slice(0, start), ...kept.slice(end)];
      candidates += 1;
      if (await fails(candidate)) kept = candidate;
    }
  return kept;
}

async function issue(walk: Walk, account: string): Promise<string> {
  const answer = await walk.request(
    { title: `Issue a credential of ${account}`, api: "POST /v1/routing/access", as: account, body: {} },
    answered(201, { account }),
  );
  const { credential_id }: components["schemas"]["Access"] = JSON.parse(answer.text);
  return credential_id;
}

function toPurchase(view: unknown): components["schemas"]["Purchase"] {
  return JSON.parse(JSON.stringify(view));
}

function addCounts(all: WalkCounts, more: WalkCounts): void {
  for (const [kind, answers] of Object.entries(more))
    for (const [answer, times] of Object.entries(answers)) count(all, kind, answer, times);
}

/** fast-check takes a number of 32 bits. */
function toInteger(seed: string): number {
  return Number.parseInt(hashJson(seed).slice(2, 10), 16) | 0;
}
