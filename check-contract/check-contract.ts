import { messageOf } from "../protocol/coded-error.ts";
import type { Artifact } from "../sandbox/chain/registrar/artifact.ts";
import { SandboxError } from "../sandbox/lib/errors/sandbox-error.ts";
import { type Attack, findFailure } from "./attack.ts";
import { attacksWithPermit, attacks as everyAttack } from "./attacks/all.ts";
import { type Breach, breachOf, type Outcome } from "./breach.ts";
import type { RecordedCall } from "./calls/call-recorder.ts";
import { type CallSequence, findCallBreach, recordSequence } from "./calls/call-sequence.ts";
import { type Finding, groupFindings } from "./findings.ts";
import { ContractFixture } from "./fixture/contract-fixture.ts";
import { throwIfSilent } from "./fixture/node-fault.ts";
import { InstallationError, installRegistrar } from "./install-registrar.ts";
import { type GasUse, runLifecycle } from "./lifecycle.ts";
import { type ReferenceEffects, readReference, withReference } from "./reference.ts";
import { compareInStates, findUnreached, findWrongStates } from "./rules/compare-states.ts";
import { type StateCheck, stateChecks } from "./rules/plan.ts";
import { recordStates, type StatesRecording } from "./rules/record-states.ts";
import { table } from "./rules/table/all.ts";
import { describeWalk, findOtherWalk } from "./walks/compare-walks.ts";
import { prepareWalks } from "./walks/walk-scene.ts";

const allAttacks = [...everyAttack, ...attacksWithPermit];

/** One thing that was tried on a contract. */
export interface CheckResult {
  suite: string;
  name: string;
  /** Null when it passed, otherwise a sentence. */
  failure: string | null;
  duration_ms: number;
}

/** Gas of one function, as a whole transaction, compared with the sandbox's own registrar contract. */
export interface GasComparison {
  function: string;
  gas: number;
  ours: number;
  /** The gas that `--gas-baseline` compares with. */
  baseline?: number;
}

/** The result of checking a registrar contract. */
export interface ContractReport {
  contract: string;
  passed: boolean;
  results: CheckResult[];
  /** The rules that the contract breaks, each with the checks that show it. */
  findings: Finding[];
  /** The number of checks that did not run: after a call that differs, the calls that start from its state; with `bail`, all after a failure. */
  not_run: number;
  /** The number of checks that `only` left out. */
  left_out: number;
  gas: GasComparison[];
}

/** The options of a contract check. */
export interface CheckOptions {
  /** The effects on the sandbox's own registrar contract; see {@link readReference}. By default it is read first. */
  reference?: ReferenceEffects;
  /** The attacks that are run; all of them by default. */
  attacks?: readonly Attack[];
  /** Runs only the checks whose `suite/name` contains this text, such as `rules/claim by the buyer`. The deployment always runs. */
  only?: string;
  /** Whether to stop at the first check that fails. */
  bail?: boolean;
  progress?: CheckProgress;
}

/** Called with each result. */
export type CheckProgress = (result: CheckResult, done: number, total: number) => void;

/**
 * Deploys a registrar contract to a fresh sandbox and runs the lifecycle, the calls in every state, the call sequences and every attack
 * against it.
 *
 * @throws CodedError argument_invalid when `only` matches no check; anvil_failed when Anvil ends or gives no response.
 * @example (await checkContract(await readArtifact(file), { reference: await readReference() })).passed
 */
export async function checkContract(artifact: Artifact, options: CheckOptions = {}): Promise<ContractReport> {
  const { reference = await readReference(), attacks = allAttacks } = options;
  const all = listChecks(reference, attacks);
  const checks = listChecks(reference, attacks, options.only).filter(({ names }) =>
    isChosen(options.only, names),
  );
  // The deployment always runs: alone, if only it is asked for.
  if (checks.length === 0 && !isChosen(options.only, deploymentChecks)) throw nothingChosen(options.only);
  const total = 2 + countChecks(checks);
  const run = new CheckRun(total, options);
  const fixture = await run.open(artifact);
  if (fixture !== null)
    try {
      await runChecks(checks, fixture, run, artifact, options.bail === true);
    } finally {
      await fixture.close();
    }
  const { gas } = run;
  const results = run.inOrder();
  return {
    contract: artifact.contractName,
    passed: results.every(({ failure }) => failure === null),
    results,
    findings: run.findings(),
    not_run: total - results.length,
    left_out: countChecks(all) - countChecks(checks),
    gas: Object.entries(gas).map(([name, used]) => ({
      function: name,
      gas: used,
      ours: reference.gas[name] ?? 0,
    })),
  };
}

/**
 * Runs the checks. Those that compare calls run next to the others, in a sandbox of their own: each waits for its Anvil half of the time. To stop
 * at the first failure, one after the other.
 */
async function runChecks(
  checks: readonly CheckGroup[],
  fixture: ContractFixture,
  run: CheckRun,
  artifact: Artifact,
  bail: boolean,
): Promise<void> {
  const inTurn = async (groups: CheckGroup[], own: ContractFixture) => {
    for (let next = groups.shift(); next !== undefined; next = groups.shift()) {
      const { check } = next;
      if (run.isOver) return;
      const failures = run.failures;
      await check(own, run).catch(async (error: unknown) => {
        await own.requireNode(error);
        throw error;
      });
      // A failure says something about the contract only if Anvil runs.
      if (run.failures > failures) await own.requireNode();
    }
  };
  const rest = checks.filter(({ kind }) => kind !== "walk");
  // Walks show what no other check shows. After a failure, they would show the same again, and less clearly.
  const walk = async (second?: ContractFixture) => {
    const walks = run.failures === 0 ? checks.filter(({ kind }) => kind === "walk") : [];
    const onBoth = walks.map(
      (group): CheckGroup => ({ ...group, check: async (own) => await group.check(own, run, second) }),
    );
    await inTurn(onBoth, fixture);
  };
  const isCompared = ({ kind }: CheckGroup) => kind === "compared";
  if (rest.every(isCompared) || !rest.some(isCompared)) {
    await inTurn(rest, fixture);
    return await walk();
  }
  const first = bail ? rest.findIndex(isCompared) : 0;
  await inTurn(rest.slice(0, first), fixture);
  if (run.isOver) return;
  const second = await ContractFixture.open(async (chain) => await installRegistrar(chain, artifact));
  try {
    if (bail)
      for (const group of rest.slice(first)) await inTurn([group], isCompared(group) ? second : fixture);
    else {
      const others = rest.filter((group) => !isCompared(group));
      // The sandbox that has compared all calls helps with the others.
      await Promise.all([
        inTurn(others, fixture),
        inTurn(rest.filter(isCompared), second).then(async () => await inTurn(others, second)),
      ]);
    }
    await walk(second);
  } finally {
    await second.close();
  }
}

/** Checks that run together. */
interface CheckGroup {
  /** Those that compare calls, random walks, and all others. */
  kind: "compared" | "walk" | "other";
  /** The suite and the name of each. */
  names: readonly string[];
  /** A second sandbox with the contract helps with walks. */
  check: (fixture: ContractFixture, run: CheckRun, second?: ContractFixture) => Promise<void>;
}

const placeTaken = "takes the place of the sandbox's own registrar contract";
/** The calls that every other check starts from. */
const firstCalls = "a merchant enrolls in two programs, and the operators offer purchases";
const deploymentChecks = [placeTaken, firstCalls].map((name) => `deployment/${name}`);

/** The results of checking one contract, in their order. */
class CheckRun {
  readonly results: CheckResult[] = [];
  readonly #breaches = new Map<CheckResult, Breach>();
  gas: GasUse = {};
  readonly #total: number;
  readonly #options: CheckOptions;

  constructor(total: number, options: CheckOptions) {
    this.#total = total;
    this.#options = options;
  }

  /** Returns the results in the order of the suites: some of these run at the same time. */
  inOrder(): CheckResult[] {
    const suites = ["deployment", "lifecycle", "rules", "calls", "attacks", "walks"];
    const rank = ({ suite }: CheckResult) => suites.findIndex((name) => suite.startsWith(name));
    return this.results.toSorted((left, right) => rank(left) - rank(right));
  }

  /** Returns the broken rules, in the order of the suites. */
  findings(): Finding[] {
    return groupFindings(
      this.inOrder().flatMap((result) => {
        const breach = this.#breaches.get(result);
        return breach === undefined ? [] : [{ ...result, breach }];
      }),
    );
  }

  /** Whether a check has failed and no more are run. */
  get isOver(): boolean {
    return this.#options.bail === true && this.failures > 0;
  }

  /** The number of checks that have failed. */
  get failures(): number {
    return this.results.filter(({ failure }) => failure !== null).length;
  }

  /** Opens a sandbox with the contract; null when that failed. */
  async open(artifact: Artifact): Promise<ContractFixture | null> {
    const opened = await ContractFixture.open(async (chain) => await installRegistrar(chain, artifact)).catch(
      (error: unknown) => ({ error }),
    );
    const error = "error" in opened ? opened.error : null;
    throwIfSilent(error);
    const isInstalled = !(error instanceof InstallationError);
    await this.add("deployment", placeTaken, async () => (isInstalled ? null : messageOf(error)));
    if (isInstalled && !this.isOver)
      await this.add("deployment", firstCalls, async () => (error === null ? null : breachOf(error)));
    return "error" in opened ? null : opened;
  }

  async add(suite: string, name: string, check: () => Promise<Outcome>): Promise<void> {
    if (this.isOver) return;
    const began = performance.now();
    const outcome = await check().catch((error: unknown) => {
      throwIfSilent(error);
      return breachOf(error);
    });
    const breach = typeof outcome === "string" ? { failure: outcome } : outcome;
    const duration_ms = Math.round(performance.now() - began);
    const result = { suite, name, failure: breach?.failure ?? null, duration_ms };
    if (breach !== null) this.#breaches.set(result, breach);
    this.results.push(result);
    this.#options.progress?.(result, this.results.length, this.#total);
  }
}

/**
 * Lists everything that is tried on a deployed contract.
 *
 * @param only - leaves out the calls in states whose `suite/name` does not contain this text; all of them are one group.
 */
function listChecks(
  reference: ReferenceEffects,
  attacks: readonly Attack[],
  only?: string,
): readonly CheckGroup[] {
  const one = (
    suite: string,
    name: string,
    check: (fixture: ContractFixture) => Promise<Outcome>,
  ): CheckGroup => ({
    kind: "other",
    names: [`${suite}/${name}`],
    check: async (fixture, run) => await run.add(suite, name, async () => await withLastCall(fixture, check)),
  });
  const lifecycle = "enrollment to refund, by both routes, the money right to the unit";
  return [
    {
      kind: "other",
      names: [`lifecycle/${lifecycle}`],
      check: async (fixture, run) =>
        await run.add(
          "lifecycle",
          lifecycle,
          async () =>
            await withLastCall(fixture, async () => {
              run.gas = await runLifecycle(fixture);
              return null;
            }),
        ),
    },
    ...(reference.states === undefined ? [] : [listStates(reference.states, only)]),
    ...[...reference.calls].map(
      ([sequence, expected]): CheckGroup => ({
        kind: "compared",
        names: expected.map(({ rule }) => `calls: ${sequence.name}/${rule}`),
        check: async (fixture, run) => await compareCalls(sequence, expected, fixture, run),
      }),
    ),
    ...attacks.map((attack) =>
      one(`attacks: ${attack.area}`, attack.name, async (fixture) => await findFailure(attack, fixture)),
    ),
    ...(reference.walks === undefined ? [] : [listWalks(reference.walks)]),
  ];
}

/** Adds the function that was called last to a failure that names no rule. */
async function withLastCall(
  fixture: ContractFixture,
  check: (fixture: ContractFixture) => Promise<Outcome>,
): Promise<Outcome> {
  const outcome = await check(fixture).catch((error: unknown) => {
    throwIfSilent(error);
    return breachOf(error);
  });
  const breach = typeof outcome === "string" ? { failure: outcome } : outcome;
  return breach === null || breach.rule !== undefined ? breach : { calls: fixture.lastFunction, ...breach };
}

function listWalks(expected: readonly string[]): CheckGroup {
  const name = `${expected.length} sequences of random calls`;
  return {
    kind: "walk",
    names: [`walks/${name}`],
    check: async (fixture, run, second = fixture) =>
      await run.add("walks", name, async () => {
        const scenes = await Promise.all([...new Set([fixture, second])].map(prepareWalks));
        const other = await findOtherWalk(scenes, expected);
        if (other === null) return null;
        return await withReference(
          async (own) => await describeWalk(other.number, other.scene, await prepareWalks(own)),
        );
      }),
  };
}

const everyState = "every state is reached";

function listStates(expected: StatesRecording, only: string | undefined): CheckGroup {
  const chosen = stateChecks.filter(({ name }) => isChosen(only, [`rules/${name}`]));
  const reached = isChosen(only, [`rules/${everyState}`]) ? [everyState] : [];
  return {
    kind: "compared",
    names: [...reached, ...chosen.map(({ name }) => name)].map((name) => `rules/${name}`),
    check: async (fixture, run) => {
      const calls = reached.length > 0 ? table : chosen.map(({ call }) => call);
      const actual = await recordStates(fixture, calls).catch((error: unknown) => {
        throwIfSilent(error);
        return breachOf(error);
      });
      if ("failure" in actual) return await run.add("rules", everyState, async () => actual);
      // First, because a call that is refused on the way to a state lets the checks in this state fail too.
      if (reached.length > 0) await run.add("rules", everyState, async () => findUnreached(actual));
      await compareStates(chosen, { fixture, actual, expected }, run);
    },
  };
}

/** Compares the outcomes of each call. Of its failures, the one in the plainest state is enough. */
async function compareStates(
  checks: readonly StateCheck[],
  recordings: Parameters<typeof compareInStates>[1],
  run: CheckRun,
): Promise<void> {
  const wrong = findWrongStates(recordings);
  for (const same of Map.groupBy(checks, ({ call }) => call).values()) {
    const found = same.flatMap((check) => {
      const finding = compareInStates(check, recordings, wrong);
      return finding === undefined ? [] : [{ name: check.name, ...finding }];
    });
    const plainest = Math.min(...found.map(({ place }) => place));
    for (const { name, place, breach } of found)
      if (breach === null || place === plainest) await run.add("rules", name, async () => breach);
  }
}

function countChecks(groups: readonly CheckGroup[]): number {
  return groups.reduce((sum, { names }) => sum + names.length, 0);
}

function isChosen(only: string | undefined, names: readonly string[]): boolean {
  return only === undefined || names.some((name) => name.includes(only));
}

function nothingChosen(only = ""): SandboxError {
  return new SandboxError(
    "argument_invalid",
    `No check has "${only}" in its name. Use a suite or a name of the report, such as rules/ or "rules/claim by the buyer".`,
  );
}

/** Compares the effect of each call, up to the first that differs: those after it start from another state. */
async function compareCalls(
  sequence: CallSequence,
  expected: readonly RecordedCall[],
  fixture: ContractFixture,
  run: CheckRun,
): Promise<void> {
  const { recorded, error } = await recordSequence(sequence, fixture);
  for (const [index, one] of expected.entries()) {
    const actual = recorded[index];
    const difference = actual === undefined ? (error ?? "was not sent") : findCallBreach(actual, one);
    await run.add(`calls: ${sequence.name}`, one.rule, async () => difference);
    if (difference !== null) return;
  }
}
