import { createHash } from "node:crypto";
import { type Address, encodeFunctionData, type Hex } from "viem";
import { contractWalletAbi } from "../adversary-abi.ts";
import type { RecordedCall } from "../calls/call-recorder.ts";
import { decodeView, describeLog } from "../fixture/effects.ts";
import { brokenBound, revertText } from "../fixture/revert-text.ts";
import { type SimulatedCall, type SimulatedResult, simulate } from "../fixture/simulate.ts";
import { type View, viewOf } from "../rules/views.ts";
import type { Walk, WalkStep } from "./walk.ts";
import { callers, type WalkScene } from "./walk-scene.ts";

/** A transaction of a walk, and its outcome. */
interface WalkTransaction {
  steps: readonly WalkStep[];
  result: SimulatedResult;
}

/** The outcomes of a walk, and the results of the views after it; null for one that reverts. */
export interface WalkRecording {
  transactions: readonly WalkTransaction[];
  views: readonly (Hex | null)[];
}

/** An account without code, which calls the wallets that have code. */
const outsider: Address = "0x00000000000000000000000000000000000a11ce";

/** A contract that has several wallets make calls in one transaction. */
const caller: Address = "0x0000000000000000000000000000000000070937";

/** Makes the calls of a walk, and reads the views after the last one. */
export async function recordWalk({ wallets, steps }: Walk, scene: WalkScene): Promise<WalkRecording> {
  const { fixture, start, walletCode } = scene;
  const together = wallets === "keys" ? steps.map((step) => [step]) : Array.from(inTransactions(steps));
  const calls = together.map((all) => toCall(all, wallets, scene));
  const time = calls.at(-1)?.time ?? start;
  const to = fixture.contracts.registrar;
  const reads = viewsOf(scene).map(({ data }) => ({ from: outsider, to, data, time }));
  const coded = wallets === "keys" ? [] : [caller, ...callers.map((actor) => fixture.address(actor))];
  const overrides = Object.fromEntries(coded.map((address) => [address, { code: walletCode }]));
  const results = await simulate(fixture, [...calls, ...reads], overrides);
  return {
    transactions: together.flatMap((all, index) => {
      const result = results[index];
      return result === undefined ? [] : [{ steps: all, result }];
    }),
    views: results.slice(calls.length).map(({ succeeded, returned }) => (succeeded ? returned : null)),
  };
}

/** Returns the call by which a wallet makes one step, or by which contract wallets make several. */
function toCall(
  steps: readonly WalkStep[],
  wallets: Walk["wallets"],
  { fixture, start }: WalkScene,
): SimulatedCall {
  const [first] = steps;
  const time = start + (first?.second ?? 0);
  if (wallets === "keys" && first !== undefined)
    return { from: fixture.address(first.by), to: first.call.to, data: first.call.data, time };
  const abi = contractWalletAbi;
  const inner = steps.map(({ by, call: { to, data } }) => ({
    target: fixture.address(by),
    data: encodeFunctionData({ abi, functionName: "attempt", args: [to, data] }),
  }));
  const data = encodeFunctionData({ abi, functionName: "multicall", args: [inner] });
  return { from: outsider, to: caller, data, gas: 10_000_000n, time };
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

/** Returns the outcome of a transaction as all contracts that follow the interface have it: of a call that reverts, only that it does. */
function comparable({ result: { succeeded, returned, logs } }: WalkTransaction): string {
  // A batch may transfer in any order.
  return succeeded ? JSON.stringify([returned, logs.map((log) => JSON.stringify(log)).toSorted()]) : "";
}

/** Returns the place of the first transaction whose outcome differs; that of the last one if only the views after it do, and -1 if nothing does. */
export function findDifferent(actual: WalkRecording, expected: WalkRecording): number {
  const place = actual.transactions.findIndex((one, index) => {
    const other = expected.transactions[index];
    return other === undefined || comparable(one) !== comparable(other);
  });
  const isSame = JSON.stringify(actual.views) === JSON.stringify(expected.views);
  return place === -1 && !isSame ? actual.transactions.length - 1 : place;
}

/** Returns a short hash of all that is compared. */
export function digestOf({ transactions, views: read }: WalkRecording): string {
  const hash = createHash("sha256");
  for (const one of transactions) hash.update(`${comparable(one)}\n`);
  return hash.update(JSON.stringify(read)).digest("base64").slice(0, 4);
}

/** Returns a transaction of a walk as checks compare calls; the last one with the views after it. */
export function describeTransaction(
  { transactions, views: read }: WalkRecording,
  place: number,
  scene: WalkScene,
): RecordedCall | null {
  const { steps, result } = transactions[place] ?? {};
  const last = steps?.at(-1);
  if (result === undefined || last === undefined) return null;
  const shown = place === transactions.length - 1 ? viewsOf(scene) : [];
  return {
    rule: last.name,
    function: last.call.function,
    hash: null,
    effect: {
      outcome: result.succeeded ? "succeeded" : `reverted with ${brokenBound(revertText(result.returned))}`,
      events: result.logs.map((log) => describeLog(log, scene.fixture.contracts)),
      ...Object.fromEntries(
        shown.map(({ view, name }, index) => [name, decodeView(view, read[index] ?? null)]),
      ),
    },
  };
}
