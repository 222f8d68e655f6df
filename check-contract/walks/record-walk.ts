import { createHash } from "node:crypto";
import { type Address, encodeFunctionData, type Hex } from "viem";
import { contractWalletAbi } from "../adversary-abi.ts";
import type { RecordedCall } from "../calls/call-recorder.ts";
import { decodeView, describeLog } from "../fixture/effects.ts";
import type { Actor } from "../fixture/fixture-chain.ts";
import { brokenBound, revertText } from "../fixture/revert-text.ts";
import { type SimulatedCall, type SimulatedResult, simulate } from "../fixture/simulate.ts";
import { type View, viewOf } from "../rules/views.ts";
import type { Walk, WalkStep } from "./walk.ts";
import type { WalkScene } from "./walk-scene.ts";

/** A transaction of a walk, its outcome, and what the views return after it if they were read. */
export interface WalkOutcome {
  steps: readonly WalkStep[];
  result: SimulatedResult;
  views: readonly (Hex | null)[];
}

/** An account without code, which calls the wallets that have code. */
const outsider: Address = "0x00000000000000000000000000000000000a11ce";

/** A contract that has several wallets make calls in one transaction. */
const together: Address = "0x0000000000000000000000000000000000070937";

const actors: readonly Actor[] = [
  "deployer",
  "operator",
  "other_merchant",
  "buyer",
  "beneficiary",
  "other_buyer",
  "stranger",
];

/** The number of transactions between two readings of all views. */
const between = 30;

/**
 * Makes the calls of a walk, and reads the views.
 *
 * @param every - the number of transactions between two readings of the views; they are always read at the end.
 */
export async function recordWalk(
  { wallets, steps }: Walk,
  scene: WalkScene,
  every = between,
): Promise<WalkOutcome[]> {
  const { fixture, start, walletCode } = scene;
  const transactions = wallets === "keys" ? steps.map((step) => [step]) : Array.from(inTransactions(steps));
  const views = viewsOf(scene);
  const isRead = (index: number) => (index + 1) % every === 0 || index === transactions.length - 1;
  const calls = transactions.flatMap((all, index) => {
    const call = toCall(all, wallets);
    const reads = views.map(({ data }) => ({
      ...call,
      from: outsider,
      to: fixture.contracts.registrar,
      data,
    }));
    return isRead(index) ? [call, ...reads] : [call];
  });
  const coded = [together, ...actors.map((actor) => fixture.address(actor))];
  const results = await simulate(
    fixture,
    calls,
    wallets === "keys" ? {} : Object.fromEntries(coded.map((address) => [address, { code: walletCode }])),
  );
  return transactions.map((all, index) => {
    const [result, ...reads] = results.splice(0, isRead(index) ? 1 + views.length : 1);
    if (result === undefined) throw new Error("A walk has fewer results than calls.");
    return {
      steps: all,
      result,
      views: reads.map(({ succeeded, returned }) => (succeeded ? returned : null)),
    };
  });

  function toCall(all: readonly WalkStep[], by: Walk["wallets"]): SimulatedCall {
    const time = start + (all[0]?.second ?? 0);
    const [first] = all;
    if (by === "keys" && first !== undefined)
      return { from: fixture.address(first.by), to: first.call.to, data: first.call.data, time };
    const inner = all.map((step) => ({
      target: fixture.address(step.by),
      data: encodeFunctionData({
        abi: contractWalletAbi,
        functionName: "attempt",
        args: [step.call.to, step.call.data],
      }),
    }));
    const data = encodeFunctionData({ abi: contractWalletAbi, functionName: "multicall", args: [inner] });
    return { from: outsider, to: together, data, gas: 10_000_000n, time };
  }
}

function* inTransactions(steps: readonly WalkStep[]): Generator<WalkStep[]> {
  let open: WalkStep[] = [];
  for (const step of steps) {
    if (open.length > 0 && !step.joins) {
      yield open;
      open = [];
    }
    open.push(step);
  }
  if (open.length > 0) yield open;
}

const views = new WeakMap<WalkScene, readonly View[]>();

/** Returns the views of everything that a walk can change. */
function viewsOf(scene: WalkScene): readonly View[] {
  const known = views.get(scene) ?? listViews(scene);
  views.set(scene, known);
  return known;
}

function listViews({ purchases, fundings, fixture }: WalkScene): readonly View[] {
  const programs = [...new Set(fundings.map(({ program }) => program))];
  const merchants = [fixture.address("other_merchant"), fixture.address("stranger")];
  const places = new Map(fundings.map(({ program, ref }) => [program + ref, [program, ref] as const]));
  return [
    ...purchases.flatMap(({ id }) => [viewOf("purchase", id), viewOf("figures", id)]),
    ...[...places.values()].map(([program, ref]) => viewOf("funding", program, ref)),
    ...programs.flatMap((program) => [
      viewOf("programState", program),
      viewOf("pendingAdmin", program),
      ...merchants.map((merchant) => viewOf("enrolledAs", program, merchant)),
    ]),
  ];
}

/** Returns what two contracts that follow the interface have in common: of a call that reverts, only that it does. */
function comparable({ result: { succeeded, returned, logs }, views: read }: WalkOutcome): string {
  // A batch may transfer in any order.
  const events = logs.map((log) => JSON.stringify(log)).toSorted();
  return JSON.stringify(succeeded ? [returned, events, read] : [read]);
}

/** Returns the place of the first transaction whose outcome differs; -1 if there is none. */
export function findDifferent(actual: readonly WalkOutcome[], expected: readonly WalkOutcome[]): number {
  return actual.findIndex((outcome, index) => {
    const other = expected[index];
    return other === undefined || comparable(outcome) !== comparable(other);
  });
}

/** Returns a short hash of all that is compared. */
export function digestOf(outcomes: readonly WalkOutcome[]): string {
  const hash = createHash("sha256");
  for (const outcome of outcomes) hash.update(comparable(outcome));
  return hash.digest("hex").slice(0, 8);
}

/** Returns a transaction of a walk as checks compare calls. */
export function describeOutcome({ steps, result, views: read }: WalkOutcome, scene: WalkScene): RecordedCall {
  const { succeeded, returned, logs } = result;
  const last = steps.at(-1);
  const shown = viewsOf(scene).slice(0, read.length);
  return {
    rule: last?.name ?? "",
    function: last?.call.function,
    hash: null,
    effect: {
      outcome: succeeded ? "succeeded" : `reverted with ${brokenBound(revertText(returned))}`,
      events: logs.map((log) => describeLog(log, scene.fixture.contracts)),
      ...Object.fromEntries(
        shown.map(({ view, name }, index) => [name, decodeView(view, read[index] ?? null)]),
      ),
    },
  };
}
