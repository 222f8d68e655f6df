import { type Address, encodeFunctionData, type Hex } from "viem";
import { contractWalletAbi } from "../adversary-abi.ts";
import type { ContractFixture } from "../fixture/contract-fixture.ts";
import { type SimulatedCall, type SimulatedResult, simulate } from "../fixture/simulate.ts";
import { type PlannedState, plannedStates } from "./plan.ts";
import { prepareScene, type Scene } from "./scene.ts";
import { codeOfSigners } from "./signers.ts";
import type { PurchaseState } from "./state.ts";
import { encodeSteps, type Step, type StepCalls, secondOf, stepsOf, stepsTo } from "./steps.ts";
import type { TableCall } from "./table/table-call.ts";
import { actors, type Role } from "./values.ts";
import { otherViews, type View, viewCaller, viewCallerCode, viewsOf } from "./views.ts";

/** The outcome of a call in a state, and the results of the views after it if it succeeded. */
export interface StateOutcome extends SimulatedResult {
  /** Null for one that reverts. */
  views: readonly (Hex | null)[];
}

/** The outcomes of calls in one state. */
interface StateRecording {
  /** A step to the state, or between it and a call, that reverted, and its revert data; null if none did. */
  failedStep: { step: Step; reason: Hex } | null;
  outcomes: ReadonlyMap<TableCall, StateOutcome>;
}

/** The outcomes of calls in all states. */
export interface StatesRecording {
  /** In the order of `plannedStates`. */
  states: readonly StateRecording[];
  /** The views that were read. */
  views: readonly View[];
}

/** The number of states that are tried at one time. */
const atOnce = 8;

/** Makes calls in every state. Nothing is mined but what all states start from. */
export async function recordStates(
  fixture: ContractFixture,
  calls: readonly TableCall[],
): Promise<StatesRecording> {
  const chosen = new Set(calls);
  const scene = await prepareScene(fixture);
  const recorders = {
    apart: new StateRecorder(scene),
    "own beneficiary": new StateRecorder({ ...scene, purchase: scene.ownPurchase }),
  };
  const states: StateRecording[] = [];
  const waiting = [...plannedStates.entries()];
  const recordInTurn = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift())
      states[next[0]] = await recorders[next[1].state.parties].record(next[1], chosen);
  };
  await Promise.all(Array.from({ length: atOnce }, recordInTurn));
  return { states, views: recorders.apart.views };
}

/** Simulates the calls of a state, each on top of the steps to the state. */
class StateRecorder {
  readonly #scene: Scene;
  readonly #steps: StepCalls;
  /** By the calldata that is forwarded. */
  readonly #forwarded = new Map<Hex, Hex>();
  /** The calls of the table are encoded once for all states. */
  readonly #calls = new Map<TableCall, Step["call"]>();
  readonly views: readonly View[];
  /** The number of views that are read after every call. */
  readonly #ownViews: number;

  constructor(scene: Scene) {
    this.#scene = scene;
    this.#steps = encodeSteps(scene);
    const own = viewsOf(scene);
    this.#ownViews = own.length;
    this.views = [...own, ...otherViews(scene)];
  }

  async record(
    { state, refused, accepted }: PlannedState,
    chosen: ReadonlySet<TableCall>,
  ): Promise<StateRecording> {
    const outcomes = new Map<TableCall, StateOutcome>();
    let failedStep: StateRecording["failedStep"] = null;
    for (const after of new Set(refused.map((call) => call.after))) {
      const calls = refused.filter((call) => chosen.has(call) && call.after === after);
      failedStep = (await this.#recordRefused(state, calls, outcomes)) ?? failedStep;
    }
    for (const call of accepted)
      if (chosen.has(call)) failedStep = (await this.#recordAlone(state, call, outcomes)) ?? failedStep;
    return { failedStep, outcomes };
  }

  /** Makes calls one after the other: those that revert leave the state as it is. After one that succeeds, starts from the state again. */
  async #recordRefused(
    state: PurchaseState,
    calls: readonly TableCall[],
    outcomes: Map<TableCall, StateOutcome>,
  ): Promise<StateRecording["failedStep"]> {
    let rest = calls.toSorted((left, right) => secondIn(state, left) - secondIn(state, right));
    while (rest.length > 0) {
      const before = this.#stepsBefore(state, rest[0]?.after);
      const steps = rest.map((call) => this.#stepOf(state, call));
      const results = await this.#simulate(state, [...before, ...steps]);
      const failedStep = findRevert(before, results);
      if (failedStep !== null) return failedStep;
      const first = results.findIndex(({ succeeded }, index) => succeeded && index >= before.length);
      const end = first === -1 ? rest.length : first + 1 - before.length;
      for (const [index, call] of rest.slice(0, end).entries()) {
        const result = results[before.length + index];
        if (result !== undefined) outcomes.set(call, { ...result, views: [] });
      }
      rest = rest.slice(end);
    }
    return null;
  }

  /** Makes a call, and reads the views after it. */
  async #recordAlone(
    state: PurchaseState,
    call: TableCall,
    outcomes: Map<TableCall, StateOutcome>,
  ): Promise<StateRecording["failedStep"]> {
    const before = this.#stepsBefore(state, call.after);
    const read = call.readsOthers ? this.views : this.views.slice(0, this.#ownViews);
    const results = await this.#simulate(state, [...before, this.#stepOf(state, call)], read);
    const failedStep = findRevert(before, results);
    const [result, ...views] = results.slice(before.length);
    if (failedStep === null && result !== undefined)
      outcomes.set(call, {
        ...result,
        views: views.map(({ succeeded, returned }) => (succeeded ? returned : null)),
      });
    return failedStep;
  }

  #stepsBefore(state: PurchaseState, after: TableCall["after"]): readonly Step[] {
    return [...stepsTo(state, this.#steps), ...stepsOf(after, state, this.#steps)];
  }

  #stepOf(state: PurchaseState, call: TableCall): Step {
    const encoded = this.#calls.get(call) ?? call.call(this.#scene);
    this.#calls.set(call, encoded);
    return { by: call.by, call: encoded, value: call.value, second: secondIn(state, call) };
  }

  async #simulate(
    { wallets }: PurchaseState,
    steps: readonly Step[],
    views: readonly View[] = [],
  ): Promise<SimulatedResult[]> {
    const { fixture, registrar, start, walletCode, walletWithoutCode: outsider } = this.#scene;
    // With code, it would be asked by its code.
    const roles = (Object.keys(actors) as Role[]).filter((role) => role !== "commitment signer");
    const addressOf = (role: Role) => fixture.address(actors[role]);
    const calls = steps.map(({ by, call: { to, data }, value, second }): SimulatedCall => {
      const [from, time] = [addressOf(by), start + second];
      if (wallets === "keys") return { from, to, data, value, time };
      return { from: outsider, to: from, data: this.#forward(to, data), time };
    });
    const time = calls.at(-1)?.time ?? start;
    const reads = views.map(({ data }) => ({ from: outsider, to: registrar, data, time }));
    const coded = wallets === "keys" ? [] : roles.map((role) => [addressOf(role), { code: walletCode }]);
    return await simulate(fixture, [...calls, ...reads], {
      ...codeOfSigners(registrar),
      [viewCaller]: { code: viewCallerCode(registrar) },
      ...Object.fromEntries(coded),
    });
  }

  #forward(to: Address, data: Hex): Hex {
    const args = [to, data] as const;
    const forwarded =
      this.#forwarded.get(data) ??
      encodeFunctionData({ abi: contractWalletAbi, functionName: "forward", args });
    this.#forwarded.set(data, forwarded);
    return forwarded;
  }
}

function findRevert(
  steps: readonly Step[],
  results: readonly SimulatedResult[],
): StateRecording["failedStep"] {
  for (const [index, step] of steps.entries()) {
    const result = results[index];
    if (result !== undefined && !result.succeeded) return { step, reason: result.returned };
  }
  return null;
}

function secondIn(state: PurchaseState, { second }: TableCall): number {
  return second ?? secondOf(state);
}
