import type { Address, Hex, TransactionReceipt } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { purchaseRegistrarAbi } from "../../protocol/abi.generated.ts";
import { type Commitment, commitmentTypedData, hashCommitment } from "../../protocol/messages/commitment.ts";
import {
  type FundingAuthorization,
  fundingAuthorizationTypedData,
} from "../../protocol/messages/funding-authorization.ts";
import { usdc } from "../../protocol/values/amount.ts";
import { hashId } from "../../protocol/values/id.ts";
import type { Json } from "../../protocol/values/json.ts";
import { errorIn } from "../breach.ts";
import type { ContractFixture } from "../fixture/contract-fixture.ts";
import {
  decodeView,
  describeLog,
  encodeView,
  functionOf,
  neutral,
  neutralLog,
  type ViewName,
} from "../fixture/effects.ts";
import type { Actor } from "../fixture/fixture-chain.ts";
import { throwIfSilent } from "../fixture/node-fault.ts";
import { brokenBound, revertText, revertTextOf } from "../fixture/revert-text.ts";
import { simulate } from "../fixture/simulate.ts";

/** A transaction to the contract, or to a contract that calls it. */
export interface ContractCall {
  to: Address;
  data: Hex;
  value?: bigint;
  gas?: bigint;
}

/** One call, and everything that it did. */
export interface RecordedCall {
  /** The rule that it tries, as a sentence. */
  rule: string;
  /** The function of the registrar contract that is called, if it is one. */
  function?: string | undefined;
  /** The rule that another outcome breaks, if its function and its error do not name it. */
  breaks?: string | undefined;
  /** Null when it was not sent. */
  hash: Hex | null;
  /** Outcome, events, and the answers of the contract's views after it. */
  effect: { [name: string]: Json };
}

/** A commitment with the signature of the program's commitment signer. */
export interface SignedCommitment {
  id: Hex;
  commitment: Commitment;
  signature: Hex;
}

/** One call of a simulation; without a rule, nothing of it is recorded. */
export interface SimulatedStep {
  rule: string | null;
  /** A contract sends no transaction, but its calls can be simulated. */
  actor: Actor | "registrar contract";
  call: ContractCall;
  /** The function that is tried, if the call makes it through another contract. */
  function?: string | undefined;
  /** The rule that another outcome breaks, if the function and its error do not name it. */
  breaks?: string;
  /** The errors that a call which breaks several rules may be refused with. */
  errors?: readonly string[];
  /** Unix second of its block, not before that of the step before it. */
  timestamp: bigint;
}

/** The arguments of the views that are read after each call. */
interface Watched {
  programs: Set<Hex>;
  purchases: Set<Hex>;
  fundings: Map<string, readonly [program: Hex, merchantRef: Hex]>;
  wallets: Map<string, readonly [program: Hex, wallet: Address]>;
}

/** Sends calls to a registrar contract, one after the other, and records the effect of each. */
export class CallRecorder {
  readonly fixture: ContractFixture;
  readonly recorded: RecordedCall[] = [];
  readonly #watched: Watched = {
    programs: new Set([hashId("prg_demo")]),
    purchases: new Set(),
    fundings: new Map(),
    wallets: new Map(),
  };

  /** By function and arguments. */
  readonly #views = new Map<string, View>();

  constructor(fixture: ContractFixture) {
    this.fixture = fixture;
    const { merchant, purchase, second } = fixture;
    this.watchFunding(hashId(merchant.id));
    this.watchWallet(fixture.address("merchant"));
    for (const { commitment } of [purchase, second]) this.watchPurchase(commitment.hash);
  }

  get registrar(): Address {
    return this.fixture.contracts.registrar;
  }

  /** Unix seconds of the newest block. */
  async now(): Promise<bigint> {
    return (await this.fixture.client.getBlock()).timestamp;
  }

  /** The state of the program prg_demo, as the contract has it now. */
  async programState() {
    const query = {
      address: this.registrar,
      abi: purchaseRegistrarAbi,
      functionName: "programState",
    } as const;
    return await this.fixture.client.readContract({ ...query, args: [hashId("prg_demo")] });
  }

  watchProgram(program: Hex): void {
    this.#watched.programs.add(program);
  }

  watchPurchase(id: Hex): void {
    this.#watched.purchases.add(id);
  }

  watchFunding(merchantRef: Hex, program = hashId("prg_demo")): void {
    this.#watched.fundings.set(program + merchantRef, [program, merchantRef]);
  }

  watchWallet(wallet: Address, program = hashId("prg_demo")): void {
    this.#watched.wallets.set(program + wallet, [program, wallet]);
  }

  /**
   * Sends a call and records its effect.
   *
   * @param timestamp - the Unix second of its block; by default the next one.
   */
  async call(rule: string, actor: Actor, call: ContractCall, timestamp?: bigint): Promise<void> {
    if (timestamp !== undefined) await this.fixture.client.setNextBlockTimestamp({ timestamp });
    const receipt = await this.fixture.mine(actor, call);
    this.recorded.push({
      rule,
      function: functionOf(call.data),
      hash: receipt.transactionHash,
      effect: {
        outcome: await this.#outcomeOf(receipt),
        events: receipt.logs.map((log) => describeLog(neutralLog(log, this.fixture), this.fixture.contracts)),
        ...(await this.#readViews()),
      },
    });
  }

  /**
   * Simulates calls one after the other, and records the effect of each that has a rule. Nothing is mined, so that the calls can be made at any time.
   *
   * @param overrides - the code and the wei that accounts have in the simulation.
   */
  async simulate(
    steps: readonly SimulatedStep[],
    overrides: Parameters<typeof simulate>[2] = {},
  ): Promise<void> {
    const { fixture } = this;
    const views = this.#watchedViews().map(([view, args]) => ({ view, ...encodeView(view, args) }));
    const calls = steps.flatMap(({ rule, actor, call: { to, data, gas }, timestamp }) => {
      const time = Number(timestamp);
      const from = actor === "registrar contract" ? this.registrar : fixture.address(actor);
      const reads =
        rule === null ? [] : views.map((view) => ({ from, to: this.registrar, data: view.data, time }));
      return [{ from, to, data, gas, time }, ...reads];
    });
    const results = await simulate(fixture, calls, overrides);
    for (const { rule, call, function: called = functionOf(call.data), breaks, errors = [] } of steps) {
      const [result, ...reads] = results.splice(0, rule === null ? 1 : 1 + views.length);
      if (rule === null || result === undefined) continue;
      const { succeeded, returned, logs } = result;
      this.recorded.push({
        rule,
        function: called,
        breaks,
        hash: null,
        effect: {
          outcome: succeeded ? "succeeded" : `reverted with ${brokenBound(revertText(returned))}`,
          events: logs.map((log) => describeLog(log, fixture.contracts)),
          ...Object.fromEntries(
            views.map(({ view, name }, index) => {
              const read = reads[index];
              return [name, decodeView(view, read?.succeeded ? read.returned : null)];
            }),
          ),
        },
      });
      this.accept(errors);
    }
  }

  /** Accepts any of these errors of the last call, with any arguments. */
  accept(errors: readonly string[]): void {
    const error = errorIn(this.recorded.at(-1)?.effect["outcome"]);
    if (error !== undefined && errors.includes(error))
      this.note("outcome", `reverted with ${errors.join(" or ")}`);
  }

  /** Adds what was read after the last call to its effect. */
  note(name: string, value: Json): void {
    const last = this.recorded.at(-1);
    if (last !== undefined) last.effect[name] = value;
  }

  /** Adds what a call from inside the last call did to its effect, before the events, which show it too. The last call has succeeded. */
  noteInner(outcome: string): void {
    const last = this.recorded.at(-1);
    if (last !== undefined) last.effect = { "inner call": outcome, ...last.effect };
  }

  /** Names the rule that the last call tries, and the function that it calls. */
  tried(functionName: string, breaks: string): void {
    const last = this.recorded.at(-1);
    if (last !== undefined) Object.assign(last, { function: functionName, breaks });
  }

  /** Records what a call returns, or what it reverts with, without sending it. */
  async returns(rule: string, actor: Actor, { to, data }: ContractCall): Promise<void> {
    const from = this.fixture.address(actor);
    const answer = await this.fixture.client
      .request({ method: "eth_call", params: [{ from, to, data }, "latest"] })
      .catch((error: unknown) => {
        throwIfSilent(error);
        return "reverts";
      });
    this.recorded.push({ rule, function: functionOf(data), hash: null, effect: { returned: answer } });
  }

  /** Signs a commitment of the merchant and the buyer, with other fields instead of its own, and watches the purchase. */
  async sign(fields: Partial<Commitment> = {}, signedBy = "prg_demo"): Promise<SignedCommitment> {
    const { fixture } = this;
    const now = await this.now();
    const commitment: Commitment = {
      program: hashId("prg_demo"),
      purchaseRef: hashId(`pur_calls_${this.recorded.length}`),
      merchant: fixture.address("merchant"),
      buyer: fixture.address("buyer"),
      beneficiary: fixture.address("beneficiary"),
      token: fixture.contracts.token,
      amount: 10n * usdc,
      termsHash: hashId("terms"),
      offerDeadline: now + 1_000n,
      payDeadline: now + 2_000n,
      claimDeadline: now + 3_000n,
      salt: hashId("salt"),
      ...fields,
    };
    const signature = await this.#signer(signedBy).signTypedData(
      commitmentTypedData(fixture.domain, commitment),
    );
    const id = hashCommitment(fixture.domain, commitment);
    this.watchPurchase(id);
    return { id, commitment, signature };
  }

  /** Signs the authorization of another merchant's wallet, with other fields instead of its own, and watches the funding. */
  async authorize(
    fields: Partial<FundingAuthorization> = {},
    signedBy = "prg_demo",
  ): Promise<{ authorization: FundingAuthorization; signature: Hex }> {
    const { fixture } = this;
    const authorization: FundingAuthorization = {
      program: hashId("prg_demo"),
      merchantRef: hashId("mrc_calls"),
      wallet: fixture.address("other_merchant"),
      token: fixture.contracts.token,
      cap: 50n * usdc,
      validUntil: (await this.now()) + 5_000n,
      salt: hashId("salt"),
      ...fields,
    };
    const typedData = fundingAuthorizationTypedData(fixture.domain, authorization);
    const signature = await this.#signer(signedBy).signTypedData(typedData);
    this.watchFunding(authorization.merchantRef, authorization.program);
    this.watchWallet(authorization.wallet, authorization.program);
    return { authorization, signature };
  }

  #signer(program: string) {
    return privateKeyToAccount(this.fixture.programKeys(program).commitmentSigner.privateKey);
  }

  /** Returns `succeeded`, or the error that the call reverted with. */
  async #outcomeOf({ status, transactionHash }: TransactionReceipt): Promise<string> {
    if (status === "success") return "succeeded";
    const reason = await revertTextOf(this.fixture.client.request, transactionHash);
    return `reverted with ${brokenBound(neutral(reason, this.fixture))}`;
  }

  async #readViews(): Promise<{ [name: string]: Json }> {
    const answers = await Promise.all(this.#watchedViews().map(async (view) => await this.#view(...view)));
    return Object.fromEntries(answers);
  }

  #watchedViews(): readonly (readonly [view: ViewName, args: readonly unknown[]])[] {
    const { programs, purchases, fundings, wallets } = this.#watched;
    return [
      ...[...programs].flatMap((program) => [
        ["programState", [program]] as const,
        ["pendingAdmin", [program]] as const,
      ]),
      ...[...purchases].flatMap((id) => [["purchase", [id]] as const, ["figures", [id]] as const]),
      ...[...fundings.values()].map((key) => ["funding", key] as const),
      ...[...wallets.values()].map((key) => ["enrolledAs", key] as const),
    ];
  }

  /** Asks a view, and returns its name with what it answers. Most calls leave most views as they were: the same bytes are decoded once. */
  async #view(functionName: ViewName, args: readonly unknown[]): Promise<[name: string, answer: Json]> {
    const key = `${functionName}(${args.join()})`;
    const view = this.#views.get(key) ?? {
      ...encodeView(functionName, args),
      bytes: undefined,
      answer: null,
    };
    this.#views.set(key, view);
    const bytes = await this.fixture.client
      .request({ method: "eth_call", params: [{ to: this.registrar, data: view.data }, "latest"] })
      .catch((error: unknown) => {
        throwIfSilent(error);
        return null;
      });
    if (bytes !== view.bytes) {
      const read = bytes === null ? null : neutral(bytes, this.fixture);
      Object.assign(view, { bytes, answer: decodeView(functionName, read) });
    }
    return [view.name, view.answer];
  }
}

/** A view with its arguments, and what it answered last. */
interface View {
  name: string;
  /** The calldata. */
  data: Hex;
  bytes: Hex | null | undefined;
  answer: Json;
}
