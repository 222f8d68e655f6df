import { performance } from "node:perf_hooks";
import { Mutex, Semaphore } from "async-mutex";
import type { Hex } from "viem";
import { causesOf } from "../../../protocol/coded-error.ts";
import { AbortSignal } from "../../../protocol/globals.ts";
import { RpcRefusedError } from "../../../relayer/errors.ts";
import { type Gate, type GateTurn, UndoneError } from "../../../server/http/gate.ts";
import { StoreUnavailableError } from "../../../server/store/store.ts";
import { SandboxError } from "../../lib/errors/sandbox-error.ts";
import { abortAfter, endsWithin, wait } from "../../lib/time/timers.ts";
import { AnvilSilentError } from "../client/anvil-silent-error.ts";
import { portionsOf } from "../clock/mining.ts";
import { ChainUnreadError, NotDurableError } from "../journal/not-durable-error.ts";
import { type AnvilHttp, ChainSilentError } from "./anvil-http.ts";
import { rpcErrorCodes } from "./error-codes.ts";
import type { Filters } from "./filters.ts";
import { AnswerLimitError, type HeldAnswer } from "./held-answers.ts";
import { mostGas } from "./methods/bound-call.ts";
import { judgeMeasurement } from "./methods/measure-trace.ts";
import { type CallPlan, planCall } from "./methods/plan-call.ts";
import type { InvalidCall, RpcCall, RpcError, RpcId, RpcRequest } from "./read-request.ts";
import { mostSubscriptions, type Subscriptions } from "./subscriptions.ts";

/** The longest time that calls of one request may run code without a transaction, in milliseconds. */
export const runMs = 10_000;
/** The longest time that a call waits for the block of its transaction, in milliseconds, as in Anvil. */
const blockMs = 30_000;
/** The longest pause between two looks for that block, in milliseconds: the first ones are shorter. */
const longestPauseMs = 100;
/** The number of calls that go to Anvil in one message. */
const batchSize = 128;
/** The number of calls whose answers may be large that Anvil gets at a time, from all callers. */
const mostLarge = 8;

type TracePlan = Extract<CallPlan, { kind: "trace" }>;

interface PlannedCall {
  id: RpcId;
  method: string;
  plan: CallPlan;
}

/** The caller of a request. */
export interface RpcCaller {
  /** Those of the WebSocket that asks; null over HTTP. */
  subscriptions: Subscriptions | null;
  /** Aborts when the caller has disconnected: calls that have not begun are then not run. */
  gone: AbortSignal;
  /** Aborts when the sandbox is restored: calls that change the chain and have not begun are then not run. */
  undone: AbortSignal;
  /** Counts the responses until the caller has taken them. */
  held: HeldAnswer;
}

/** The methods of the chain that the front needs besides answers. */
export interface FrontedChain {
  /** The filters that the chain has. */
  filters: Filters;
  /** Has the clock of the chain follow the machine's, if that was set. */
  follow: () => Promise<void>;
  /** Snapshots of the whole sandbox. @throws SandboxError */
  snapshots: { take: () => Promise<Hex>; revert: (id: bigint) => Promise<boolean>; list: () => object };
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
  /** A filter is counted before the next one is made. */
  readonly #making = new Mutex();
  readonly #large = new Semaphore(mostLarge);
  readonly #filters: Filters;

  constructor(anvil: AnvilHttp, gate: Gate, chain: FrontedChain) {
    this.#anvil = anvil;
    this.#gate = gate;
    this.#chain = chain;
    this.#filters = chain.filters;
  }

  /**
   * Returns the parts of the answer; null when nothing is answered, because all calls are notifications, which Anvil does not run either, or the
   * caller is gone.
   *
   * @throws ChainSilentError
   */
  async answer(request: RpcRequest, caller: RpcCaller): Promise<readonly Buffer[] | null> {
    const planned = request.calls.flatMap((call) => plan(call));
    const refused = planned.some(({ plan: { kind } }) => kind === "refuse");
    const until = performance.now() + runMs;
    const responses: RpcResponse[] = [];
    let { undone } = caller;
    for (const group of grouped(refused ? planned.map(refuseWhole) : planned)) {
      if (caller.gone.aborted) return null;
      responses.push(await this.#passWithin(group, until, { ...caller, undone }));
      // The calls after a restore that the request itself asks for are of the restored state.
      if (group[0]?.plan.kind === "revert") ({ undone } = this.#gate);
    }
    if (responses.length === 0) return null;
    return request.isBatch ? writeBatch(responses) : responses;
  }

  /** Answers calls with an error if their responses are too large. */
  async #passWithin(group: readonly PlannedCall[], until: number, caller: RpcCaller): Promise<RpcResponse> {
    try {
      return await this.#pass(group, until, caller);
    } catch (error) {
      if (!(error instanceof AnswerLimitError)) throw error;
      const hasEffect = group.some(({ plan: { kind } }) => kind === "awaits_block" || kind === "send_sync");
      const message = hasEffect ? `${error.message} The call has taken effect.` : error.message;
      return writeErrors(
        group.map(({ id }) => id),
        { code: rpcErrorCodes.limitExceeded, message },
      );
    }
  }

  /** Answers calls that can go in one message, or one call of any other kind. @throws AnswerLimitError */
  async #pass(group: readonly PlannedCall[], until: number, caller: RpcCaller): Promise<RpcResponse> {
    const { gone, undone } = caller;
    const [first] = group;
    if (first === undefined) return Buffer.alloc(0);
    const { id, method, plan } = first;
    const runShared = async <T>(work: (turn: GateTurn) => Promise<T>) =>
      await this.#gate.runShared(nameCall(method), work);
    const change = async (work: (turn: GateTurn) => Promise<RpcResponse>) =>
      await runShared(async (turn) => {
        await this.#chain.follow();
        return undone.aborted ? writeError(id, undoneCall) : await work(turn);
      });
    switch (plan.kind) {
      case "error":
      case "refuse":
        return writeError(id, plan.error);
      case "ask":
        for (const call of group) this.#noteFilter(call);
        return await runShared(async () => await this.#ask(group, caller, gone));
      case "ask_alone":
        this.#noteFilter(first);
        return await this.#askNoting(first, plan.params, caller);
      case "metadata":
        return this.#withOwnSnapshots(id, await this.#askAlone(first, caller));
      case "filter":
        return await this.#making.runExclusive(async () => await this.#makeFilter(first, caller));
      case "send":
        return await change(async () => await this.#send(first, plan.params, caller));
      case "send_sync":
        return await change(async (turn) => await this.#sendSync(first, plan.params, caller, turn));
      case "send_unsigned":
        return await change(async () => await this.#ask([first], caller));
      case "change":
        return await change(async () => await this.#change(first, plan.params, caller));
      case "run":
        return await this.#run(first, until, caller, async () => await this.#ask([first], caller, gone));
      case "trace":
        return await this.#run(first, until, caller, async () => await this.#trace(first, plan, caller));
      case "awaits_block":
        return await change(
          async () =>
            await this.#kept(
              async () => await this.#chain.mineBy(async () => await this.#ask(group, caller)),
            ),
        );
      case "nothing":
        return writeResult(id, null);
      case "interval":
        return await runShared(async () => writeResult(id, await this.#chain.interval()));
      case "reorg":
        return await change(async () => await this.#reorganize(id, plan.params));
      case "snapshot":
      case "revert":
        return undone.aborted ? writeError(id, undoneCall) : await this.#snapshot(id, plan);
      case "mine":
        return await this.#mine(first, plan, change);
      case "subscribe":
        return await this.#subscribe(first, plan.params, caller);
    }
  }

  async #subscribe(
    { id, method }: PlannedCall,
    params: readonly unknown[],
    { subscriptions }: RpcCaller,
  ): Promise<RpcResponse> {
    if (subscriptions === null)
      return writeError(id, {
        code: rpcErrorCodes.methodNotSupported,
        message: `${method} needs a WebSocket. Connect over ws://.`,
      });
    if (method === "eth_subscribe" && !subscriptions.hasRoom) return writeError(id, subscriptionLimit);
    return await this.#gate.runShared(
      nameCall(method),
      async () => await subscribe(subscriptions, id, method, params),
    );
  }

  /** Asks Anvil a question whose answer may be large, when it has few of these. */
  async #askAlone(call: PlannedCall, caller: RpcCaller): Promise<RpcResponse> {
    const { held, gone } = caller;
    return await this.#large.runExclusive(async () => {
      // One that does not fit any more would only keep Anvil busy.
      if (held.isFull || gone.aborted) return writeError(call.id, notRun);
      return await this.#gate.runShared(
        nameCall(call.method),
        async () => await this.#ask([call], caller, gone),
      );
    });
  }

  /** Anvil has a snapshot for every one of the sandbox, also for those of an earlier test. */
  #withOwnSnapshots(id: RpcId, answer: RpcResponse): RpcResponse {
    const { result } = JSON.parse(answer.toString());
    if (result === undefined) return answer;
    return writeResult(id, { ...result, snapshots: this.#chain.snapshots.list() });
  }

  #noteFilter({ method, plan }: PlannedCall): void {
    if (plan.kind === "ask" || plan.kind === "ask_alone") this.#filters.note({ method, params: plan.params });
  }

  async #makeFilter(call: PlannedCall, caller: RpcCaller): Promise<RpcResponse> {
    const bytes = call.method === "eth_newFilter" ? await this.#sizeOfPast(call, caller) : 0;
    for (;;) {
      const message = this.#filters.refusalOf(bytes);
      if (message === null) break;
      const unused = this.#filters.takeUnused();
      if (unused === undefined) return writeError(call.id, { code: rpcErrorCodes.limitExceeded, message });
      const removal = {
        ...call,
        method: "eth_uninstallFilter",
        plan: { kind: "ask" as const, params: [unused] },
      };
      await this.#gate.runShared(nameCall(call.method), async () => await this.#ask([removal], caller));
    }
    const answer = await this.#askAlone(call, caller);
    this.#filters.add(answer, bytes);
    return answer;
  }

  /** Asks a question, and notes a filter whose first logs the answer has. */
  async #askNoting(call: PlannedCall, [id]: readonly unknown[], caller: RpcCaller): Promise<RpcResponse> {
    const answer = await this.#askAlone(call, caller);
    const isError = answer.length < longestError && !isSuccess(answer);
    if (call.method === "eth_getFilterChanges" && !isError) this.#filters.empty(id);
    return answer;
  }

  /** Returns the size of the logs that a filter begins with, in bytes. */
  async #sizeOfPast(call: PlannedCall, caller: RpcCaller): Promise<number> {
    const { length } = await this.#askAlone({ ...call, method: "eth_getLogs" }, caller);
    caller.held.remove(length);
    return length;
  }

  /** Sends a transaction and reports it to what journals the chain. */
  async #send(call: PlannedCall, [transaction]: readonly unknown[], caller: RpcCaller): Promise<RpcResponse> {
    return await this.#kept(
      async () => await this.#chain.send(transaction, async () => await this.#ask([call], caller), isSuccess),
    );
  }

  /**
   * Sends a transaction, and answers with its receipt. Its block may be made much later or never: a snapshot does not wait for it, and a restore ends
   * the call. The second parameter is the longest wait in milliseconds (EIP-7966), up to the one without it.
   */
  async #sendSync(
    call: PlannedCall,
    [transaction, wished]: readonly unknown[],
    caller: RpcCaller,
    { releaseGate }: GateTurn,
  ): Promise<RpcResponse> {
    const { id, method } = call;
    const { held, gone } = caller;
    const waitMs = typeof wished === "number" && wished > 0 ? Math.min(Math.ceil(wished), blockMs) : blockMs;
    const params = [transaction];
    const plain = { id, method: method.slice(0, -"Sync".length), plan: { kind: "send", params } } as const;
    const sent = await this.#send(plain, params, caller);
    const { result: hash } = JSON.parse(sent.toString());
    if (hash === undefined) return sent;
    held.remove(sent.length);
    const ask = { id, method: "eth_getTransactionReceipt", plan: { kind: "ask", params: [hash] } } as const;
    const awaitReceipt = async (undone: AbortSignal) => {
      const ended = AbortSignal.any([undone, gone, abortAfter(waitMs)]);
      for (let pauseMs = 1; !ended.aborted; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
        const answer = await this.#ask([ask], caller, gone);
        if (JSON.parse(answer.toString()).result !== null) return answer;
        held.remove(answer.length);
        await wait(pauseMs, ended);
      }
      return writeError(id, unmined(hash, waitMs));
    };
    try {
      return await releaseGate(awaitReceipt);
    } catch (error) {
      if (error instanceof UndoneError) return writeError(id, undoneTransaction);
      throw error;
    }
  }

  /** Makes a call that no block shows and reports it to what journals the chain. */
  async #change(call: PlannedCall, params: readonly unknown[], caller: RpcCaller): Promise<RpcResponse> {
    const { id, method } = call;
    const answer = await this.#kept(
      async () =>
        await this.#chain.change({ method, params }, async () => await this.#ask([call], caller), isSuccess),
    );
    // Hardhat answers whether it has dropped one, which its network helpers require; Anvil answers with its hash, or null.
    return method === "hardhat_dropTransaction" && isSuccess(answer)
      ? writeResult(id, JSON.parse(answer.toString()).result !== null)
      : answer;
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

  async #trace(call: PlannedCall, { measuring, params }: TracePlan, caller: RpcCaller): Promise<RpcResponse> {
    const { gone } = caller;
    const measurement = await this.#ask(
      [{ ...call, plan: { kind: "run", params: measuring } }],
      caller,
      gone,
    );
    const refusal = judgeMeasurement(measurement);
    if (refusal === undefined) return measurement;
    if (refusal !== null) return writeError(call.id, refusal);
    return await this.#ask([{ ...call, plan: { kind: "run", params } }], caller, gone);
  }

  async #mine(
    { id }: PlannedCall,
    { blocks, answer }: Extract<CallPlan, { kind: "mine" }>,
    change: (work: () => Promise<RpcResponse>) => Promise<RpcResponse>,
  ): Promise<RpcResponse> {
    const mined = writeResult(id, answer);
    for (const portion of portionsOf(blocks)) {
      const response = await change(async () => {
        await this.#chain.mine(portion).catch((cause: unknown) => {
          throw silent(
            cause,
            `Anvil ended or did not respond while it mined, so that some of the blocks may be there. ${lookFirst}`,
          );
        });
        return mined;
      });
      if (response !== mined) return response;
    }
    return mined;
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

  /** Takes or restores a snapshot, and says why it cannot. */
  async #snapshot(id: RpcId, plan: Extract<CallPlan, { kind: "snapshot" | "revert" }>): Promise<RpcResponse> {
    const { snapshots } = this.#chain;
    try {
      return writeResult(
        id,
        plan.kind === "snapshot" ? await snapshots.take() : await snapshots.revert(plan.snapshot),
      );
    } catch (error) {
      if (!(error instanceof SandboxError || error instanceof StoreUnavailableError)) throw error;
      return writeError(id, { code: rpcErrorCodes.internalError, message: error.message });
    }
  }

  /** @param gone - the caller's, for calls that change nothing: what the others do is kept also when the caller is gone. */
  async #ask(group: readonly PlannedCall[], { held }: RpcCaller, gone?: AbortSignal): Promise<RpcResponse> {
    const calls = group.map(({ id, method, plan }) => ({
      jsonrpc: "2.0",
      id,
      method,
      params: "params" in plan ? plan.params : [],
    }));
    const answer = await this.#anvil.post(JSON.stringify(calls.length === 1 ? calls[0] : calls), held, gone);
    // The responses of a batch are in brackets, which a refusal of the whole batch does not have.
    return answer.at(0) === openBracket ? answer.subarray(1, -1) : answer;
  }

  /** Runs a call when no other one runs, unless its request has used up its time by then. */
  async #run(
    call: PlannedCall,
    until: number,
    { gone, held }: RpcCaller,
    ask: () => Promise<RpcResponse>,
  ): Promise<RpcResponse> {
    const ran = this.#running.runExclusive(async () => {
      if (performance.now() >= until) return writeError(call.id, timeLimit);
      if (held.isFull || gone.aborted) return writeError(call.id, notRun);
      // Anvil continues with a call whose caller is gone: the next caller waits for its answer.
      const answer = await this.#gate.runShared(nameCall(call.method), ask);
      return explainGas(answer);
    });
    const inTime = await endsWithin(ran, until - performance.now());
    return inTime ? await ran : writeError(call.id, timeLimit);
  }
}

const notRun: RpcError = {
  code: rpcErrorCodes.limitExceeded,
  message:
    "Not run: the response to an earlier call of this request could not be held. Ask for less at once.",
};

const undoneCall: RpcError = {
  code: rpcErrorCodes.internalError,
  message: "Not run: the sandbox was restored before this call could begin. Send it again.",
};

const undoneTransaction: RpcError = {
  code: rpcErrorCodes.internalError,
  message:
    "The sandbox was restored while this call waited for a block, and the transaction is gone. Send it again.",
};

function unmined(hash: string, waitMs: number): RpcError {
  return {
    code: rpcErrorCodes.internalError,
    message: `The transaction ${hash} was sent, and no block had it within ${waitMs / 1_000} s. Mine a block, then read eth_getTransactionReceipt.`,
  };
}

const subscriptionLimit: RpcError = {
  code: rpcErrorCodes.limitExceeded,
  message: `A WebSocket has at most ${mostSubscriptions} subscriptions. End those that are no longer used (eth_unsubscribe).`,
};

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

/** Returns the parts of the answer to a request while the chain is silent. */
export function silence(request: RpcRequest, { message }: ChainSilentError): readonly Buffer[] {
  const error = { code: rpcErrorCodes.internalError, message };
  const ids = request.calls.flatMap((call) => (call.id === undefined ? [] : [call.id]));
  return request.isBatch
    ? writeBatch(ids.map((id) => writeError(id, error)))
    : [writeError(ids[0] ?? null, error)];
}

/** The bytes of one JSON-RPC response. */
type RpcResponse = Buffer;

/** Writes the response to a call that has succeeded. */
function writeResult(id: RpcId, result: string | number | boolean | object | null): RpcResponse {
  return Buffer.from(JSON.stringify({ jsonrpc: "2.0", id, result }));
}

/** Writes the response to a call that has failed or is refused. */
export function writeError(id: RpcId, error: RpcError): RpcResponse {
  return Buffer.from(JSON.stringify({ jsonrpc: "2.0", id, error }));
}

/** Writes the same error as the responses to several calls. */
function writeErrors(ids: readonly RpcId[], error: RpcError): RpcResponse {
  return Buffer.from(ids.map((id) => writeError(id, error)).join(","));
}

/** Returns the parts of the response to a batch, without a copy of them; each response may be several with commas between. */
function writeBatch(responses: readonly RpcResponse[]): Buffer[] {
  const parts = responses.flatMap((response, index) => (index === 0 ? [response] : [comma, response]));
  return [Buffer.from("["), ...parts, Buffer.from("]")];
}

const comma = Buffer.from(",");
