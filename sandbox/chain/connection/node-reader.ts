import { type EIP1193RequestFn, type Hex, hexToNumber, keccak256, numberToHex, RpcRequestError } from "viem";
import { z } from "zod";
import { Recent } from "../../../protocol/recent.ts";
import { hexSchema } from "../../../relayer/node/node-schemas.ts";
import { deepestReorg } from "../../../relayer/recovery/head-trail.ts";
import type { BlockPoint } from "../../../server/chain/chain-reader.ts";
import { wait } from "../../lib/time/timers.ts";
import { NodeSilentError } from "../client/anvil-silent-error.ts";
import { executionReverted, type NodeConnection, refusal } from "./node-connection.ts";

/**
 * How often a node is asked that lags behind what it has answered before, and how much longer each pause is than the one before, in
 * milliseconds. Equal pauses could meet the same node of a provider each time.
 */
const catchUp = { tries: 20, pauseMs: 40 };
/** After this time a lower newest block is no lag: the chain has gone back, as a development node can. In milliseconds. */
const longestLagMs = 30_000;
/** The number of the newest blocks and transaction receipts that are known. */
const mostKnown = 1_000;
/** The most receipts of a block that are read one by one. */
const mostReceipts = 100;

const blockSchema = z.object({
  number: hexSchema.transform((value) => hexToNumber(value)),
  hash: hexSchema,
  timestamp: hexSchema.transform((value) => hexToNumber(value)),
});
const receiptSchema = z.object({
  blockNumber: hexSchema.transform((value) => hexToNumber(value)),
  blockHash: hexSchema,
});
const logsSchema = z.array(z.looseObject({ blockNumber: hexSchema }));
const filterSchema = z.looseObject({
  fromBlock: hexSchema,
  toBlock: z.union([hexSchema, z.literal("latest")]).default("latest"),
});
const atHashSchema = z.looseObject({ blockHash: hexSchema });
const simulationSchema = z.object({
  blockStateCalls: z.tuple([
    z.object({
      blockOverrides: z.object({ time: z.unknown() }).optional(),
      calls: z.tuple([z.looseObject({})], z.looseObject({})),
    }),
  ]),
});

type Logs = z.infer<typeof logsSchema>;

/**
 * Answers the service's requests in the same way on every node: the one place that knows how nodes differ.
 *
 * A provider is often several nodes, some of which lag behind others. A block or a receipt that such a node lacks is asked for again, and never
 * taken for a reorg.
 */
export class NodeReader {
  readonly request: EIP1193RequestFn;
  readonly #connection: NodeConnection;
  /** Nothing that is read is older. */
  readonly #firstBlock: number;
  /** Returns the machine's time, in Unix seconds. */
  readonly #now: () => number;
  #newest: BlockPoint | undefined;
  #behindSince: number | null = null;
  /** The hashes of known blocks by number, and the numbers by hash. */
  readonly #hashes = new Map<number, Hex>();
  readonly #numbers = new Map<Hex, number>();
  readonly #mined = new Map<string, z.infer<typeof receiptSchema>>();
  /** The chain id that the node had first, and the one that it has. Another chain behind the same URL has another first block, or fewer blocks. */
  #firstChainId: unknown;
  #chainId: unknown;
  #firstHash: Hex | undefined;
  /** The hash of block 0: that of a development node is another one each time it is started. */
  #genesis: Promise<Hex | undefined> | undefined;
  /** The most blocks that the node takes in one question for logs. */
  #logRange = Number.MAX_SAFE_INTEGER;
  /** The logs of old blocks by filter; the number is of the newest block that they include. */
  readonly #logs = new Recent<{ to: number; logs: Logs }>(mostKnown);
  /** The parameters that the node was seen to refuse. */
  readonly #refuses = { blockHash: false, blockTime: false };

  constructor(connection: NodeConnection, firstBlock: number, now: () => number) {
    this.#connection = connection;
    this.#firstBlock = firstBlock;
    this.#now = now;
    const answer = async ({ method, params }: { method: string; params?: unknown }) =>
      await this.#answer(method, Array.isArray(params) ? params : []);
    // The type of a request function promises an answer for each method, as that of any node does.
    this.request = answer as EIP1193RequestFn;
  }

  /** The newest block that the node has had. */
  get newest(): BlockPoint | undefined {
    return this.#newest;
  }

  /** Notes a block that the node has announced. */
  note(block: BlockPoint): void {
    this.#know(block);
    if (block.number >= (this.#newest?.number ?? 0)) this.#newest = block;
  }

  async #answer(method: string, params: unknown[]): Promise<unknown> {
    switch (method) {
      case "eth_chainId":
        return this.#chainId ?? (await this.#askChainId());
      case "eth_getBlockByNumber":
        return await this.#block(params);
      case "eth_getTransactionReceipt":
        return await this.#receipt(params);
      case "eth_getLogs":
        return await this.#logsOf(params);
      case "eth_call":
        return params.length > 3 ? await this.#callAt(params) : await this.#atHash(method, params);
      case "eth_sendRawTransaction":
        return await this.#send(params);
      case "eth_getBlockReceipts":
        return await this.#receiptsOf(params);
      case "eth_simulateV1":
        return await this.#simulate(params);
      default:
        return await this.#atHash(method, params);
    }
  }

  async #ask(method: string, params: unknown): Promise<unknown> {
    return await this.#connection.ask(method, params);
  }

  async #askChainId(): Promise<unknown> {
    this.#chainId = await this.#ask("eth_chainId", []);
    this.#firstChainId ??= this.#chainId;
    this.#genesis ??= this.#askGenesis();
    await this.#genesis;
    return this.#chainId;
  }

  /** Returns whether a node that lacks a block has another chain than at first. */
  async #isOtherChain(): Promise<boolean> {
    if ((await this.#askChainId()) !== this.#firstChainId) return true;
    const first = await this.#genesis;
    return first !== undefined && (await this.#askGenesis()) !== first;
  }

  /** Returns undefined where a node does not tell. */
  async #askGenesis(): Promise<Hex | undefined> {
    const asking = this.#ask("eth_getBlockByNumber", ["0x0", false]).catch(() => undefined);
    return blockSchema.safeParse(await asking).data?.hash;
  }

  #know({ number, hash }: Pick<BlockPoint, "number" | "hash">): void {
    this.#hashes.set(number, hash);
    this.#numbers.set(hash, number);
    for (const known of [this.#hashes, this.#numbers, this.#mined])
      for (const oldest of known.keys()) {
        if (known.size <= mostKnown) break;
        Reflect.apply(known.delete, known, [oldest]);
      }
  }

  /** Asks again while the answer is one of a node of this chain that lags behind. @throws NodeSilentError when it continues to lag. */
  async #current<T>(ask: () => Promise<T>, isBehind: (answer: T) => boolean | Promise<boolean>): Promise<T> {
    for (let tries = 0; tries < catchUp.tries; tries += 1) {
      if (tries > 0) await wait(tries * catchUp.pauseMs);
      const answer = await ask();
      if (!(await isBehind(answer))) return answer;
      if (tries === 0 && (await this.#isOtherChain())) return answer;
    }
    throw new NodeSilentError(`The node lags behind block ${this.#newest?.number}, which it has had.`);
  }

  async #block([tag, full]: unknown[]): Promise<unknown> {
    if (tag === "pending") {
      // Many nodes have none. Its only use is the time that the next block would have.
      const latest = await this.#block(["latest", full]);
      const { timestamp } = blockSchema.parse(latest);
      return { ...Object(latest), timestamp: numberToHex(Math.max(timestamp + 1, this.#now())) };
    }
    const number = hexSchema.safeParse(tag).data;
    const asked = number === undefined ? undefined : hexToNumber(number);
    // Not what other readers see from now on: on a fast chain, a node could lag behind each newer block.
    const least = this.#newest;
    return await this.#current(
      async () => await this.#ask("eth_getBlockByNumber", [tag, full]),
      (answer) => {
        const { data: block } = blockSchema.safeParse(answer);
        if (asked === this.#firstBlock && block?.hash !== this.#firstHash) {
          this.#firstHash = block?.hash;
          this.#chainId = undefined;
        }
        if (block === undefined)
          return tag === "latest" || (asked !== undefined && asked <= (least?.number ?? -1));
        if (tag === "latest" && this.#isBehind(block, least)) return true;
        this.#know(block);
        if (tag === "latest" && (this.#newest === least || block.number >= (this.#newest?.number ?? 0)))
          this.#newest = block;
        return false;
      },
    );
  }

  /** Returns whether a newest block is that of a node that lags behind, not that of a chain that has gone back. */
  #isBehind({ number, hash }: BlockPoint, least: BlockPoint | undefined): boolean {
    const isLower = least !== undefined && number < least.number;
    const known = this.#hashes.get(number);
    if (!isLower || (known !== undefined && known !== hash)) {
      this.#behindSince = null;
      return false;
    }
    const { performance } = globalThis;
    this.#behindSince ??= performance.now();
    return performance.now() - this.#behindSince < longestLagMs;
  }

  /** A receipt that the node has had is missing only if its block has left the chain. */
  async #receipt(params: unknown[]): Promise<unknown> {
    const hash = String(params[0]);
    return await this.#current(
      async () => await this.#ask("eth_getTransactionReceipt", params),
      async (answer) => {
        const { data: receipt } = receiptSchema.safeParse(answer);
        if (receipt !== undefined) this.#mined.set(hash, receipt);
        const known = this.#mined.get(hash);
        if (receipt !== undefined || known === undefined) return false;
        const block = blockSchema.safeParse(await this.#block([numberToHex(known.blockNumber), false])).data;
        if (block?.hash === known.blockHash) return true;
        this.#mined.delete(hash);
        return false;
      },
    );
  }

  /** Reads the receipts of a block, of a node without that method one by one. */
  async #receiptsOf(params: unknown[]): Promise<unknown> {
    const answer = await this.#ask("eth_getBlockReceipts", params).catch(refusalOf);
    if (!(answer instanceof RpcRequestError)) return answer;
    const block = await this.#ask("eth_getBlockByHash", [params[0], false]);
    const { transactions } = z.object({ transactions: z.array(hexSchema).max(mostReceipts) }).parse(block);
    return await Promise.all(
      transactions.map(async (hash) => await this.#ask("eth_getTransactionReceipt", [hash])),
    );
  }

  /** Sends signed bytes. A node refuses those that it has already, as after a lost response, and Hardhat's those that it has mined as reverted. */
  async #send(params: unknown[]): Promise<unknown> {
    const answer = await this.#ask("eth_sendRawTransaction", params).catch(refusalOf);
    if (!(answer instanceof RpcRequestError)) return answer;
    const hash = keccak256(hexSchema.parse(params[0]));
    const isKnown = /already (?:known|imported)/i.test(answer.details);
    if (isKnown || (await this.#ask("eth_getTransactionByHash", [hash])) !== null) return hash;
    throw answer;
  }

  /** Reads state at a block by its hash (EIP-1898) or, of a node that does not take that, by its number. */
  async #atHash(method: string, params: unknown[]): Promise<unknown> {
    const index = params.findIndex((param) => atHashSchema.safeParse(param).success);
    const { data: at } = atHashSchema.safeParse(params[index]);
    if (at === undefined) return await this.#ask(method, params);
    const byNumber = async () => {
      const number = this.#numbers.get(at.blockHash);
      if (number === undefined) throw refusal(method, -32_001, `There is no block ${at.blockHash}.`);
      // Who reads at a block checks afterwards that it is still on the chain.
      return await this.#ask(method, params.with(index, numberToHex(number)));
    };
    if (this.#refuses.blockHash) return await byNumber();
    const answer = await this.#current(
      async () => await this.#ask(method, params).catch(refusalOf),
      (given) => given instanceof RpcRequestError && lacksBlock(given) && this.#isOnChain(at.blockHash),
    );
    if (!(answer instanceof RpcRequestError)) return answer;
    if (answer.code !== -32_602 || lacksBlock(answer) || !this.#numbers.has(at.blockHash)) throw answer;
    const found = await byNumber();
    this.#refuses.blockHash = true;
    return found;
  }

  #isOnChain(hash: Hex): boolean {
    const number = this.#numbers.get(hash);
    return number !== undefined && this.#hashes.get(number) === hash;
  }

  /** Runs a call at the time of the next block, or at that of the block on a node that knows no other. */
  async #callAt(params: unknown[]): Promise<unknown> {
    const [call, at] = params;
    if (this.#refuses.blockTime) return await this.#atHash("eth_call", [call, at]);
    try {
      return await this.#atHash("eth_call", params);
    } catch (error) {
      if (!(error instanceof RpcRequestError) || error.code === executionReverted) throw error;
      const answer = await this.#atHash("eth_call", [call, at]).catch(refusalOf);
      if (answer instanceof RpcRequestError && answer.code !== executionReverted) throw error;
      this.#refuses.blockTime = true;
      if (answer instanceof RpcRequestError) throw answer;
      return answer;
    }
  }

  /** Tries calls one after the other; of a node that cannot, only the first, and the others count as successful. */
  async #simulate(params: unknown[]): Promise<unknown> {
    const asked = await this.#ask("eth_simulateV1", params).catch(refusalOf);
    if (!(asked instanceof RpcRequestError)) return asked;
    const { data } = simulationSchema.safeParse(params[0]);
    if (data === undefined) throw asked;
    const [{ calls, blockOverrides = {} }] = data.blockStateCalls;
    const at = params[1];
    const answer = await this.#callAt([calls[0], at, {}, blockOverrides]).catch(refusalOf);
    if (answer instanceof RpcRequestError && answer.code !== executionReverted) throw answer;
    const outcome = (result: unknown) =>
      result instanceof RpcRequestError
        ? {
            status: "0x0",
            returnData: result.data ?? "0x",
            gasUsed: "0x0",
            logs: [],
            error: { code: 3, message: result.details, data: result.data ?? "0x" },
          }
        : { status: "0x1", returnData: result ?? "0x", gasUsed: "0x0", logs: [] };
    return [{ calls: calls.map((_, index) => outcome(index === 0 ? answer : "0x")) }];
  }

  /** Reads logs in ranges that the node takes; those of blocks that no reorg removes are kept. */
  async #logsOf(params: unknown[]): Promise<unknown> {
    const { data: filter } = filterSchema.safeParse(params[0]);
    if (filter === undefined) return await this.#ask("eth_getLogs", params);
    const { fromBlock, toBlock, ...rest } = filter;
    const first = Math.max(hexToNumber(fromBlock), this.#firstBlock);
    const last =
      toBlock === "latest"
        ? blockSchema.parse(await this.#block(["latest", false])).number
        : hexToNumber(toBlock);
    const kept = this.#logs.get(JSON.stringify([rest, first]), () => ({ to: first - 1, logs: [] }));
    const found: Logs = kept.to > last ? [] : [...kept.logs];
    let range = this.#logRange;
    for (let from = kept.to > last ? first : kept.to + 1; from <= last; ) {
      const to = Math.min(last, from + range - 1);
      const part = { ...rest, fromBlock: numberToHex(from), toBlock: numberToHex(to) };
      const answer = await this.#ask("eth_getLogs", [part]).catch(refusalOf);
      if (answer instanceof RpcRequestError) {
        if (to === from || lacksBlock(answer)) throw answer;
        range = Math.ceil((to - from + 1) / 2);
        continue;
      }
      this.#logRange = range;
      found.push(...logsSchema.parse(answer));
      from = to + 1;
    }
    const settled = last - deepestReorg;
    if (settled > kept.to) {
      kept.to = settled;
      kept.logs = found.filter(({ blockNumber }) => hexToNumber(blockNumber) <= settled);
    }
    return found;
  }
}

/** Returns a refusal as an answer; throws any other failure. */
function refusalOf(error: unknown): RpcRequestError {
  if (error instanceof RpcRequestError) return error;
  throw error;
}

function lacksBlock({ details }: RpcRequestError): boolean {
  return /(?:block|header).*(?:not found|unknown|missing|out ?of ?range)|unknown block|BlockOutOfRange/i.test(
    details,
  );
}
