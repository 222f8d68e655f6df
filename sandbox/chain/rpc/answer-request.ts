import { performance } from "node:perf_hooks";
import { Mutex } from "async-mutex";
import { causesOf } from "../../../protocol/coded-error.ts";
import { RpcRefusedError } from "../../../relayer/errors.ts";
import type { Gate } from "../../../server/http/gate.ts";
import { StoreUnavailableError } from "../../../server/store/store.ts";
import { endsWithin } from "../../lib/time/deadline.ts";
import { AnvilSilentError } from "../client/anvil-silent-error.ts";
import { ChainUnreadError, NotDurableError } from "../journal/not-durable-error.ts";
import { type AnvilHttp, ChainSilentError } from "./anvil-http.ts";
import { rpcErrorCodes } from "./error-codes.ts";
import { mostGas } from "./methods/bound-call.ts";
import { judgeMeasurement } from "./methods/measure-trace.ts";
import { type CallPlan, planCall } from "./methods/plan-call.ts";
import type { InvalidCall, RpcCall, RpcError, RpcId, RpcRequest } from "./read-request.ts";
import type { Subscriptions } from "./subscriptions.ts";
import { type RpcResponse, writeBatch, writeError, writeResult } from "./write-response.ts";

/** The longest time that calls of one request may run code without a transaction, in milliseconds. */
export const runMs = 10_000;
/** The number of calls that go to Anvil in one message. */
const batchSize = 128;

type TracePlan = Extract<CallPlan, { kind: "trace" }>;

interface PlannedCall {
  id: RpcId;
  method: string;
  plan: CallPlan;
}

/** The methods of the chain that the front needs besides answers. */
export interface FrontedChain {
  /** Reads how many seconds apart blocks are made; null when they are not made by interval. */
  interval: () => Promise<number | null>;
  /** Makes a call that mines, when no block is being made. @throws StoreUnavailableError when its blocks cannot be kept. */
  mineBy: (run: () => Promise<RpcResponse>) => Promise<RpcResponse>;
  /** Mines the given number of blocks. */
  mine: (blocks: number) => Promise<void>;
  /** Replaces the newest blocks with others. */
  reorg: (params: readonly unknown[]) => Promise<void>;
  /** Sends a signed transaction. @throws StoreUnavailableError when it cannot be kept. */
  send: (
    transaction: unknown,
    run: () => Promise<RpcResponse>,
    isDone: (answer: RpcResponse) => boolean,
  ) => Promise<RpcResponse>;
  /** Makes a call that changes the chain between blocks. @throws StoreUnavailableError when it cannot be kept. */
  change: (
    call: { method: string; params: readonly unknown[] },
    run: () => Promise<RpcResponse>,
    isDone: (answer: RpcResponse) => boolean,
  ) => Promise<RpcResponse>;
}

/** Answers JSON-RPC requests: passes on what is on the list, within its limits, one thing after the other. */
export class RequestAnswerer {
  readonly #anvil: AnvilHttp;
  readonly #gate: Gate;
  readonly #chain: FrontedChain;
  /** Anvil makes no block while it runs a call, so that calls run one at a time. */
  readonly #running = new Mutex();

  constructor(anvil: AnvilHttp, gate: Gate, chain: FrontedChain) {
    this.#anvil = anvil;
    this.#gate = gate;
    this.#chain = chain;
  }

  /**
   * Returns the answer's bytes; null when nothing is answered, because all calls are notifications, which Anvil does not run either.
   *
   * @param subscriptions - those of the WebSocket that asks; null over HTTP.
   * @throws ChainSilentError
   */
  async answer(request: RpcRequest, subscriptions: Subscriptions | null): Promise<Buffer | null> {
    const planned = request.calls.flatMap((call) => plan(call));
    const refused = planned.some(({ plan: { kind } }) => kind === "refuse");
    const until = performance.now() + runMs;
    const responses: RpcResponse[] = [];
    for (const group of grouped(refused ? planned.map(refuseWhole) : planned))
      responses.push(await this.#pass(group, until, subscriptions));
    if (responses.length === 0) return null;
    return request.isBatch ? writeBatch(responses) : (responses[0] ?? null);
  }

  /** Answers calls that can go in one message, or one call of any other kind. */
  async #pass(
    group: readonly PlannedCall[],
    until: number,
    subscriptions: Subscriptions | null,
  ): Promise<RpcResponse> {
    const [first] = group;
    if (first === undefined) return Buffer.alloc(0);
    const { id, method, plan } = first;
    const runShared = async <T>(work: () => Promise<T>) => await this.#gate.runShared(nameCall(method), work);
    switch (plan.kind) {
      case "error":
      case "refuse":
        return writeError(id, plan.error);
      case "ask":
        return await runShared(async () => await this.#ask(group));
      case "send":
        return await runShared(async () => await this.#send(first, plan.params));
      case "change":
        return await runShared(async () => await this.#change(first, plan.params));
      case "run":
        return await this.#run(first, until, async () => await this.#ask([first]));
      case "trace":
        return await this.#run(first, until, async () => await this.#trace(first, plan));
      case "awaits_block":
        return await runShared(
          async () =>
            await this.#kept(async () => await this.#chain.mineBy(async () => await this.#ask(group))),
        );
      case "interval":
        return await runShared(async () => writeResult(id, await this.#chain.interval()));
      case "reorg":
        return await runShared(async () => await this.#reorganize(id, plan.params));
      case "mine":
        await runShared(async () => await this.#chain.mine(plan.blocks)).catch((cause: unknown) => {
          throw silent(
            cause,
            `Anvil ended or did not respond while it mined, so that some of the blocks may be there. ${lookFirst}`,
          );
        });
        return writeResult(id, plan.answer);
      case "subscribe":
        if (subscriptions === null)
          return writeError(id, {
            code: rpcErrorCodes.methodNotSupported,
            message: `${method} needs a WebSocket. Connect over ws://.`,
          });
        return await runShared(async () => await subscribe(subscriptions, id, method, plan.params));
    }
  }

  /** Sends a transaction and reports it to what journals the chain. */
  async #send(call: PlannedCall, [transaction]: readonly unknown[]): Promise<RpcResponse> {
    return await this.#kept(
      async () => await this.#chain.send(transaction, async () => await this.#ask([call]), isSuccess),
    );
  }

  /** Makes a call that no block shows and reports it to what journals the chain. */
  async #change(call: PlannedCall, params: readonly unknown[]): Promise<RpcResponse> {
    const { method } = call;
    return await this.#kept(
      async () =>
        await this.#chain.change({ method, params }, async () => await this.#ask([call]), isSuccess),
    );
  }

  /** Says whether a call has taken effect when it cannot be kept. */
  async #kept<T>(step: () => Promise<T>): Promise<T> {
    try {
      return await step();
    } catch (cause) {
      if (!(cause instanceof StoreUnavailableError || cause instanceof ChainUnreadError || isSilent(cause)))
        throw cause;
      throw silent(
        cause,
        `Anvil ended or did not respond during the call, which may have taken effect. ${lookFirst}`,
      );
    }
  }

  async #trace(call: PlannedCall, { measuring, params }: TracePlan): Promise<RpcResponse> {
    const measurement = await this.#ask([{ ...call, plan: { kind: "run", params: measuring } }]);
    const refusal = judgeMeasurement(measurement);
    if (refusal === undefined) return measurement;
    if (refusal !== null) return writeError(call.id, refusal);
    return await this.#ask([{ ...call, plan: { kind: "run", params } }]);
  }

  async #reorganize(id: RpcId, params: readonly unknown[]): Promise<RpcResponse> {
    try {
      await this.#chain.reorg(params);
    } catch (error) {
      if (error instanceof RpcRefusedError)
        return writeError(id, { code: error.rpcCode, message: error.reason });
      throw silent(error, "The chain did not reorganize. See whether the sandbox still runs.");
    }
    return writeResult(id, null);
  }

  async #ask(group: readonly PlannedCall[]): Promise<RpcResponse> {
    const calls = group.map(({ id, method, plan }) => ({
      jsonrpc: "2.0",
      id,
      method,
      params: "params" in plan ? plan.params : [],
    }));
    const answer = await this.#anvil.post(JSON.stringify(calls.length === 1 ? calls[0] : calls));
    // The responses of a batch are in brackets, which a refusal of the whole batch does not have.
    return answer.at(0) === openBracket ? answer.subarray(1, -1) : answer;
  }

  /** Runs a call when no other one runs, unless its request has used up its time by then. */
  async #run(call: PlannedCall, until: number, ask: () => Promise<RpcResponse>): Promise<RpcResponse> {
    const ran = this.#running.runExclusive(async () => {
      if (performance.now() >= until) return writeError(call.id, timeLimit);
      // Anvil continues with a call whose caller is gone: the next caller waits for its answer.
      const answer = await this.#gate.runShared(nameCall(call.method), ask);
      return explainGas(answer);
    });
    const inTime = await endsWithin(ran, until - performance.now());
    return inTime ? await ran : writeError(call.id, timeLimit);
  }
}

const timeLimit: RpcError = {
  code: rpcErrorCodes.limitExceeded,
  message: `Code that runs without a transaction may take ${runMs / 1_000} s in one request. Send fewer calls at once.`,
};

async function subscribe(
  subscriptions: Subscriptions,
  id: RpcId,
  method: string,
  params: readonly unknown[],
): Promise<RpcResponse> {
  const asked = await subscriptions.ask(method, params);
  return Buffer.from(asked.answer.replace(`"id":${asked.id}`, () => `"id":${JSON.stringify(id)}`));
}

/** Returns whether the sandbox itself got no answer of Anvil. */
function isSilent(error: unknown): boolean {
  return causesOf(error).some((cause) => cause instanceof AnvilSilentError);
}

/** @param otherwise - what is said of a call that has not taken effect. */
function silent(cause: unknown, otherwise: string): ChainSilentError {
  const notDurable = causesOf(cause).find((one) => one instanceof NotDurableError);
  return new ChainSilentError(notDurable?.message ?? otherwise, { cause });
}

const lookFirst = "Look at the chain (eth_blockNumber, GET /status) before you repeat the call.";

function isSuccess(answer: RpcResponse): boolean {
  return !("error" in JSON.parse(answer.toString()));
}

function nameCall(method: string): string {
  return `${method} over the chain RPC`;
}

/** No caller waits for the answer to a notification, and Anvil does not run one. */
function plan(call: RpcCall | InvalidCall): PlannedCall[] {
  if ("invalid" in call) return [{ id: null, method: "", plan: { kind: "error", error: call.invalid } }];
  const { id, method } = call;
  return id === undefined ? [] : [{ id, method, plan: planCall(call) }];
}

/** Of a batch with a call that is refused nothing is run. */
function refuseWhole(call: PlannedCall): PlannedCall {
  if (call.plan.kind === "refuse" || call.plan.kind === "error") return call;
  const error = {
    code: rpcErrorCodes.methodNotSupported,
    message: "Not run: another call of this batch is refused.",
  };
  return { ...call, plan: { kind: "error", error } };
}

/** Calls that need nothing of their own go together, as long as no other one is between them. */
function grouped(calls: readonly PlannedCall[]): PlannedCall[][] {
  const groups: PlannedCall[][] = [];
  for (const call of calls) {
    const last = groups.at(-1);
    const joins = call.plan.kind === "ask" && last?.[0]?.plan.kind === "ask" && last.length < batchSize;
    if (joins) last.push(call);
    else groups.push([call]);
  }
  return groups;
}

const openBracket = 0x5b;
const outOfGas = /("error":\{"code":-?\d+,"message":"(?:EVM error OutOfGas|Out of gas: [^"]*))"/;
/** An error has a short answer; a result may have any. */
const longestError = 1_000;

/** Says how much gas there is, where Anvil only says that it was not enough. */
function explainGas(answer: RpcResponse): RpcResponse {
  if (answer.length > longestError) return answer;
  return Buffer.from(answer.toString().replace(outOfGas, `$1. A call may use ${mostGas} gas at most."`));
}

/** Returns the answer to a request while the chain is silent. */
export function silence(request: RpcRequest, { message }: ChainSilentError): Buffer {
  const error = { code: rpcErrorCodes.internalError, message };
  const ids = request.calls.flatMap((call) => (call.id === undefined ? [] : [call.id]));
  return request.isBatch
    ? writeBatch(ids.map((id) => writeError(id, error)))
    : writeError(ids[0] ?? null, error);
}
