import { BaseError, type EIP1193RequestFn, type Hex } from "viem";
import type { ObservedTransaction } from "../../protocol/binding/observed-transaction.ts";
import { RpcRefusedError, RpcUnavailableError } from "../../relayer/errors.ts";
import { decodeRevert } from "../../relayer/node/decode-revert.ts";
import { toNode, traceRevert } from "../../relayer/node/node.ts";
import { describeRefusal } from "../lib/describe-refusal.ts";
import {
  type BlockPoint,
  type ChainCall,
  ChainMovedError,
  type ChainProgram,
  type ChainReader,
  type ChainReads,
  type ChainRevert,
  ChainUnavailableError,
  type MinedRevert,
} from "./chain-reader.ts";
import {
  connectDeployed,
  connectOnce,
  type DeployedNode,
  readDeployedIdentity,
  readNextTime,
  unlessZero,
} from "./deployed-node.ts";
import type { Deployment } from "./deployment.ts";
import { isOfOtherCode, requireDeployment } from "./find-difference.ts";
import { type HeadReader, type Heads, isStateGone, settled } from "./head-reader.ts";
import { transactionObserver } from "./observe-transaction.ts";
import { readChainPurchase, readClaim, readPurchaseUnder } from "./read-chain-purchase.ts";
import { readChainFunding, readCover, readOtherFundings } from "./read-funding.ts";
import { readWalletCode, verifyWalletSignature } from "./wallet-code.ts";

/** The contract's `Route`, by its number. */
const routes = [null, "registrar_offer", "merchant_direct"] as const;

/**
 * Reads a chain through a node's JSON-RPC.
 *
 * Every answer of several parts is read at one block, by its hash.
 */
export function openChainReader(request: EIP1193RequestFn, deployment: Deployment): ChainReader {
  const node = connectDeployed(request, deployment);
  const reader: ChainReader = {
    ...readsOf(node),
    expect: (head) => node.reader.expect(head),
    expected: () => node.reader.expected,
    forRequest: (confirm) => ({ ...reader, ...openRequestReader(node, confirm) }),
    renew() {},
    async settle() {},
  };
  return reader;
}

/** Opens the reads of one request, in which every question is asked once until it is renewed. */
function openRequestReader(
  node: DeployedNode & { reader: HeadReader },
  confirm: () => Promise<void>,
): ChainReads & Pick<ChainReader, "renew" | "settle"> {
  const head = new RequestHead(node.reader, confirm, () => forget());
  const { node: once, forget } = connectOnce(node, head);
  const reads = readsOf(once);
  const observed = new Map<Hex, Promise<ObservedTransaction>>();
  return {
    ...reads,
    async observe(hash, expected) {
      const observing = observed.get(hash) ?? reads.observe(hash, expected);
      observed.set(hash, observing);
      return await observing;
    },
    renew() {
      head.renew();
      forget();
      observed.clear();
    },
    settle: async () => await guard(async () => await head.settle())(),
  };
}

function readsOf(node: DeployedNode): ChainReads {
  const { client, reader, registrar, token } = node;
  return guarded(node, {
    head: async () => await reader.head(),
    atOneHead: async (read) => await reader.atOneHead(read),
    identity: async () => await readDeployedIdentity(node),
    observe: transactionObserver(node),
    revertOf: async (hash) => await readRevert(hash, node),
    walletCode: async (wallet, { hash }) => await readWalletCode(wallet, hash, client),
    purchase: async (query, point) => await readChainPurchase(query, point, node),
    purchaseUnder: async (funding, find) => await readPurchaseUnder(funding, find, node),
    claimOf: async (id) => await readClaim(id, node),
    async route(id, at) {
      const call = { ...registrar, functionName: "purchase", args: [id] } as const;
      const read = async (block: { blockHash?: Hex }) => await client.readContract({ ...call, ...block });
      const { route } = await (at === undefined ? reader.alone(read) : read({ blockHash: at.hash }));
      return routes[route] ?? null;
    },
    funding: async (query) => await readChainFunding(query, node),
    otherFundings: async (query) => await readOtherFundings(query, node),
    cover: async (id) => await readCover(id, node),
    program: async (program) => await readProgram(program, node),
    async enrolledAs({ program, wallet }) {
      const call = { ...registrar, functionName: "enrolledAs", args: [program, wallet] } as const;
      return unlessZero(
        await reader.alone(async (block) => await client.readContract({ ...call, ...block })),
      );
    },
    nextTime: async () => await readNextTime(node),
    simulate: async (calls, at, time) => await simulate(calls, { at, time }, node),
    permitNonce: async (wallet, blockHash) =>
      await client.readContract({ ...token, functionName: "nonces", args: [wallet], blockHash }),
    verifySignature: async (query) => await verifyWalletSignature(query, node),
  });
}

async function readProgram(program: Hex, { client, reader, registrar }: DeployedNode): Promise<ChainProgram> {
  const call = { ...registrar, functionName: "programState", args: [program] } as const;
  const state = await reader.alone(async (block) => await client.readContract({ ...call, ...block }));
  return {
    operator: state.operator,
    commitmentSigner: state.commitmentSigner,
    paused: state.paused,
    maxPurchase: state.bounds.maxPurchase,
    openBudget: state.bounds.openBudget,
    openOffers: state.openOffers,
    validUntil: Number(state.bounds.validUntil),
  };
}

async function simulate(
  calls: readonly ChainCall[],
  { at, time }: { at: BlockPoint; time: number },
  { client, reader }: DeployedNode,
): Promise<ChainRevert | null> {
  const tried = calls.map(({ from: account, to, data }) => ({ account, to, data }));
  const blocks = [{ blockOverrides: { time: BigInt(time) }, calls: tried }];
  const blockNumber = BigInt(at.number);
  const read = async () => await client.simulateBlocks({ blockNumber, blocks });
  const [block] = await reader.atOneHead(read, at);
  const reverted = block?.calls.find(({ status }) => status === "failure");
  return reverted === undefined ? null : toRevert(reverted.data);
}

/** A node that no longer has the state before the transaction refuses to run it again. */
async function readRevert(hash: Hex, { request }: DeployedNode): Promise<MinedRevert> {
  try {
    const { data, message } = await traceRevert(toNode(request), hash);
    return { message, revert: decodeRevert(data) };
  } catch (cause) {
    if (cause instanceof RpcRefusedError) return { message: "the node does not say why", revert: null };
    if (cause instanceof RpcUnavailableError) throw new ChainUnavailableError(cause.message, { cause });
    throw cause;
  }
}

/** Reads how a call reverted out of its revert data. */
function toRevert(data: Hex): ChainRevert {
  const revert = decodeRevert(data);
  return { name: revert?.name ?? null, args: revert?.args ?? {} };
}

/** Turns every failure of a read to talk to the node into one error. */
function guard<A extends unknown[], R>(read: (...args: A) => Promise<R>): (...args: A) => Promise<R> {
  return async (...args) => {
    try {
      return await read(...args);
    } catch (cause) {
      if (cause instanceof BaseError)
        throw new ChainUnavailableError(describeRefusal(cause) ?? cause.shortMessage, { cause });
      throw cause;
    }
  };
}

function guarded({ client, deployment }: DeployedNode, chain: ChainReads): ChainReads {
  const read = <A extends unknown[], R>(of: (...args: A) => Promise<R>) =>
    guard(async (...args: A) => {
      try {
        return await of(...args);
      } catch (cause) {
        // A chain without the contracts is another one, as that of a development node that was started again.
        if (isOfOtherCode(cause)) await requireDeployment(client, deployment);
        throw cause;
      }
    });
  return {
    head: read(chain.head),
    atOneHead: async (asked) => await read(async () => await chain.atOneHead(asked))(),
    identity: read(chain.identity),
    observe: read(chain.observe),
    revertOf: read(chain.revertOf),
    walletCode: read(chain.walletCode),
    purchase: read(chain.purchase),
    purchaseUnder: read(chain.purchaseUnder),
    claimOf: read(chain.claimOf),
    route: read(chain.route),
    funding: read(chain.funding),
    otherFundings: read(chain.otherFundings),
    cover: read(chain.cover),
    program: read(chain.program),
    enrolledAs: read(chain.enrolledAs),
    nextTime: read(chain.nextTime),
    simulate: read(chain.simulate),
    permitNonce: read(chain.permitNonce),
    verifySignature: read(chain.verifySignature),
  };
}

/**
 * Reads at the block that was the newest at the first read, for one request: all its reads are of one block, and one check at the end tells
 * whether that block is still on the chain.
 */
class RequestHead implements Heads {
  readonly #reader: HeadReader;
  readonly #confirm: () => Promise<void>;
  readonly #forget: () => void;
  #reading: Promise<BlockPoint> | null = null;
  #point: BlockPoint | null = null;

  /**
   * @param confirm - resolves with the first read, or rejects: nothing is read then.
   * @param forget - forgets the answers to questions that were asked before the newest block was known.
   */
  constructor(reader: HeadReader, confirm: () => Promise<void>, forget: () => void) {
    this.#reader = reader;
    this.#confirm = confirm;
    this.#forget = forget;
  }

  async head(): Promise<BlockPoint> {
    return await this.atOneHead(async (head) => head);
  }

  async alone<T>(read: (at: { blockHash?: Hex }) => Promise<T>): Promise<T> {
    return await this.atOneHead(async ({ hash }) => await read({ blockHash: hash }));
  }

  /** @throws ChainMovedError also when the node has dropped the state of the block. */
  async atOneHead<T>(read: (head: BlockPoint) => Promise<T>, point = this.#point): Promise<T> {
    try {
      return await (point === null ? this.#atNewest(read) : read(point));
    } catch (error) {
      throw isStateGone(error) ? new ChainMovedError() : error;
    }
  }

  async inTwoSteps<A, T>(
    first: (head: BlockPoint) => Promise<A>,
    second: (found: A, head: BlockPoint) => Promise<T>,
  ): Promise<T> {
    const found = await this.atOneHead(first);
    return await this.atOneHead(async (head) => await second(found, head));
  }

  /** The other reads of the request are of the block that is too old: the request has to start over. */
  async later(): Promise<never> {
    throw new ChainMovedError();
  }

  /** Reads at the newest block from now on. */
  renew(): void {
    this.#reading = null;
    this.#point = null;
  }

  /** @throws ChainMovedError when the block of the reads has left the chain. */
  async settle(): Promise<void> {
    const point = await this.#reading;
    if (point !== null && !(await this.#reader.isOnChain(point))) throw new ChainMovedError();
  }

  async #atNewest<T>(read: (head: BlockPoint) => Promise<T>): Promise<T> {
    const early = this.#reader.expected;
    const reads = early === undefined ? undefined : settled(async () => await read(early));
    const head = await this.#findPoint();
    const found = head.hash === early?.hash ? await reads : undefined;
    // A block that was expected may have come only after the read at it had failed.
    return found !== undefined && "value" in found ? found.value : await read(head);
  }

  async #findPoint(): Promise<BlockPoint> {
    const reading = this.#reading ?? this.#readHead();
    this.#reading = reading;
    const [point] = await Promise.all([reading, this.#confirm()]);
    if (this.#reading === reading) this.#point = point;
    return point;
  }

  /** A reorg may have come between the questions that were asked at the expected block and this one: their answers could be of blocks that it has replaced. */
  async #readHead(): Promise<BlockPoint> {
    const { expected } = this.#reader;
    const head = await this.#reader.head();
    if (head.hash !== expected?.hash) this.#forget();
    return head;
  }
}
