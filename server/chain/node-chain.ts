import {
  type Address,
  BaseError,
  BlockNotFoundError,
  ContractFunctionExecutionError,
  type ContractFunctionReturnType,
  createPublicClient,
  custom,
  type EIP1193RequestFn,
  getAbiItem,
  type Hex,
  keccak256,
  type Log,
  type PublicClient,
  parseAbi,
  type Transaction,
  TransactionNotFoundError,
  type TransactionReceipt,
  TransactionReceiptNotFoundError,
} from "viem";
import { purchaseRegistrarAbi, testUsdcAbi } from "../../protocol/abi.generated.ts";
import { type DecodedLog, decodeLog } from "../../protocol/binding/match-log.ts";
import type {
  ObservedLog,
  ObservedReceipt,
  ObservedTransaction,
} from "../../protocol/binding/observed-transaction.ts";
import { recomputeEnvelope } from "../../protocol/binding/recompute-envelope.ts";
import { recoverSigner } from "../../protocol/wallet-signature.ts";
import { awaitAutomine } from "../../relayer/mining.ts";
import { connect } from "../../relayer/node.ts";
import { decodeRevert } from "../../relayer/revert.ts";
import type { Deployment } from "../deployment.ts";
import {
  type BlockPoint,
  type Chain,
  type ChainFunding,
  ChainMismatchError,
  type ChainRevert,
  ChainUnavailableError,
} from "./chain.ts";
import { codeAt } from "./code-at.ts";

/**
 * Reads a chain through a node's JSON-RPC.
 *
 * Every answer of several parts is read at one block, by its hash.
 *
 * @example nodeChain(request, deployment)
 */
export function nodeChain(request: EIP1193RequestFn, deployment: Deployment): Chain {
  const hashCode = codeHasher();
  const client = createPublicClient({ transport: custom({ request }, { retryCount: 0 }), cacheTime: 0 });
  const registrar = { address: deployment.registrar.address, abi: purchaseRegistrarAbi } as const;
  const token = { address: deployment.token.address, abi: testUsdcAbi } as const;

  const observeAtOneHead = async (hash: Hex): Promise<ObservedTransaction> =>
    await atOneHead(client, async (head) => {
      const [identity, found, receipt] = await Promise.all([
        chain.identity(),
        client.getTransaction({ hash }).catch(absent),
        client.getTransactionReceipt({ hash }).catch(absent),
      ]);
      const transaction = await readMined(client, found, receipt);
      const observed: ObservedTransaction = {
        hash,
        chain: identity,
        head: { number: BigInt(head.number), hash: head.hash },
        envelope: transaction === undefined ? null : await recomputeEnvelope(transaction),
        receipt: receipt === undefined ? null : toReceipt(receipt),
        block: null,
        codeHash: null,
      };
      if (receipt === undefined) return observed;
      const to = observed.envelope?.to ?? null;
      const readIn = async (hash: Hex) =>
        await Promise.all([
          to === null ? undefined : codeAt(client, to, { number: receipt.blockNumber, hash }),
          client.getLogs({ blockHash: hash }),
        ]);
      // Asked with the block: it is the receipt's, unless the chain reorganised or the node lies.
      const early = readIn(receipt.blockHash);
      early.catch(() => undefined);
      const block = await client.getBlock({ blockNumber: receipt.blockNumber }).catch(absent);
      if (block?.hash === undefined || block.hash === null) return observed;
      const { number, hash: blockHash, timestamp, transactions } = block;
      const [code, logs] = await (blockHash === receipt.blockHash ? early : readIn(blockHash));
      return {
        ...observed,
        codeHash: code === undefined || code === "unknown" ? null : hashCode(code),
        block: {
          number,
          hash: blockHash,
          timestamp: Number(timestamp),
          includes: transactions.includes(hash),
          logs: logs.filter((log) => log.transactionHash === hash).map(toObservedLog),
        },
      };
    });

  const chain: Chain = {
    async identity() {
      const blockNumber = BigInt(deployment.epochBlock.number);
      const [chainId, epochBlock] = await Promise.all([
        client.getChainId(),
        client.getBlock({ blockNumber }).catch(absent),
      ]);
      if (chainId !== deployment.chainId || epochBlock?.hash !== deployment.epochBlock.hash)
        throw new ChainMismatchError(
          `The node serves chain ${chainId} with block ${deployment.epochBlock.number} ${epochBlock?.hash ?? "missing"}; expected ` +
            `chain ${deployment.chainId} with ${deployment.epochBlock.hash}.`,
        );
      return { chainId, epoch: deployment.epoch };
    },

    async observe(hash) {
      const seen = await observeAtOneHead(hash);
      const pending = seen.envelope !== null && seen.receipt === null;
      return pending && (await awaitAutomine(connect(request))) ? await observeAtOneHead(hash) : seen;
    },

    async walletCode(wallet, block) {
      const { number, hash } = block;
      const code = await codeAt(client, wallet, { number: BigInt(number), hash });
      if (code === "unknown") return "unknown";
      if (code === undefined || code === "0x") return "none";
      return code.toLowerCase().startsWith(delegationPrefix) ? "delegated" : "contract";
    },

    async purchase({ id, buyer }, point) {
      return await atOneHead(
        client,
        async (asOf) => {
          const at = { blockHash: asOf.hash } as const;
          const [figures, approved, logs] = await Promise.all([
            client.readContract({ ...registrar, functionName: "figures", args: [id], ...at }),
            client.readContract({
              ...token,
              functionName: "allowance",
              args: [buyer, registrar.address],
              ...at,
            }),
            client.getLogs({
              address: registrar.address,
              event: paymentEvent,
              args: { id },
              fromBlock: 0n,
              toBlock: BigInt(asOf.number),
            }),
          ]);
          const payments = logs
            .map((log) => decodeLog(toObservedLog(log), { abi: purchaseRegistrarAbi, event: "PurchasePaid" }))
            .filter((log) => log !== null);
          assertAddUp(id, payments, figures.paid);
          return {
            asOf,
            exists: figures.status !== 0,
            approved,
            paid: figures.paid,
            refunded: figures.refunded,
            claimHash: unlessZero(figures.claimHash),
            decisionHash: unlessZero(figures.decisionHash),
            payments,
          };
        },
        point,
      );
    },

    async route(id) {
      const { route } = await client.readContract({ ...registrar, functionName: "purchase", args: [id] });
      return routes[route] ?? null;
    },

    async funding({ program, merchantRef, wallet }) {
      const asOf = await headBlock(client);
      const at = { blockHash: asOf.hash } as const;
      const spender = deployment.fundingSource.address;
      const [state, allowance, balance] = await Promise.all([
        client.readContract({ ...registrar, functionName: "funding", args: [program, merchantRef], ...at }),
        client.readContract({ ...token, functionName: "allowance", args: [wallet, spender], ...at }),
        client.readContract({ ...token, functionName: "balanceOf", args: [wallet], ...at }),
      ]);
      // The contract's answer has the wallet's figures only where something is enrolled.
      return { ...toFunding(state, asOf), allowance, balance };
    },

    async cover(id) {
      const asOf = await headBlock(client);
      const at = { blockHash: asOf.hash } as const;
      const read = { ...registrar, functionName: "purchase", args: [id], ...at } as const;
      const { status, program, merchantRef } = await client.readContract(read);
      if (status === 0) return null;
      const args = [program, merchantRef] as const;
      const state = await client.readContract({ ...registrar, functionName: "funding", args, ...at });
      return { ...toFunding(state, asOf), merchantRef, cap: state.cap };
    },

    async program(program) {
      const args = [program] as const;
      const state = await client.readContract({ ...registrar, functionName: "programState", args });
      return {
        registrar: state.operator,
        commitmentSigner: state.commitmentSigner,
        paused: state.paused,
        maxPurchase: state.bounds.maxPurchase,
        openBudget: state.bounds.openBudget,
        openOffers: state.openOffers,
        validUntil: Number(state.bounds.validUntil),
      };
    },

    async enrolledAs({ program, wallet }) {
      const args = [program, wallet] as const;
      return unlessZero(await client.readContract({ ...registrar, functionName: "enrolledAs", args }));
    },

    async nextTime() {
      return Number((await client.getBlock({ blockTag: "pending" })).timestamp);
    },

    async simulate(calls, at, time) {
      const tried = calls.map(({ from: account, to, data }) => ({ account, to, data }));
      const blocks = [{ blockOverrides: { time: BigInt(time) }, calls: tried }];
      const blockNumber = BigInt(at.number);
      const read = async () => await client.simulateBlocks({ blockNumber, blocks });
      const [block] = await atOneHead(client, read, at);
      const reverted = block?.calls.find(({ status }) => status === "failure");
      return reverted === undefined ? null : toRevert(reverted.data);
    },

    async permitNonce(wallet, blockHash) {
      return await client.readContract({ ...token, functionName: "nonces", args: [wallet], blockHash });
    },

    async verifySignature({ wallet, digest, signature }) {
      const code = await client.getCode({ address: wallet });
      if (code === undefined || code === "0x") return (await recoverSigner(digest, signature)) === wallet;
      return await isValidByContract(client, wallet, digest, signature);
    },
  };
  return guarded(chain);
}

const paymentEvent = getAbiItem({ abi: purchaseRegistrarAbi, name: "PurchasePaid" });
/** The contract's `Route`, by its number. */
const routes = [null, "registrar_offer", "merchant_direct"] as const;
/** What a contract answers for a valid signature (ERC-1271): four bytes, and zeros up to the end of the word as Solidity demands. */
const magicValue = `0x1626ba7e${"00".repeat(28)}`;
/** What the code of an account starts with that delegates to other code (EIP-7702). */
const delegationPrefix = "0xef0100";
/** How often a read starts over when the chain reorganised under it. */
const headRetries = 3;

/**
 * A transaction as its block has it: for a moment after a block is made, Anvil still answers from its pool, as if the transaction
 * were pending. Its hash is recomputed from what is answered, whoever answers.
 */
async function readMined(
  client: PublicClient,
  found: Transaction | undefined,
  receipt: TransactionReceipt | undefined,
): Promise<Transaction | undefined> {
  if (found === undefined || found.blockHash !== null || receipt === undefined) return found;
  const { blockHash, transactionIndex: index } = receipt;
  return (await client.getTransaction({ blockHash, index }).catch(absent)) ?? found;
}

/** Reads at a head, and again if that block is no longer on the chain afterwards. */
async function atOneHead<T>(
  client: PublicClient,
  read: (head: BlockPoint) => Promise<T>,
  point?: BlockPoint,
): Promise<T> {
  for (let tries = 0; tries < headRetries; tries += 1) {
    const head = point ?? (await headBlock(client));
    // A node answers a read at a block that has gone with an error; whether it has is seen below.
    const result = await read(head).then(
      (value) => ({ value }),
      (error: unknown) => ({ error }),
    );
    const still = await client.getBlock({ blockNumber: BigInt(head.number) }).catch(absent);
    if (still?.hash !== head.hash) continue;
    if ("error" in result) throw result.error;
    return result.value;
  }
  throw new ChainUnavailableError("The chain reorganised while it was read; ask again.");
}

/** Logs and state are read by different methods: a node that leaves out or invents a payment contradicts itself. */
function assertAddUp(id: Hex, payments: readonly DecodedLog[], paid: bigint): void {
  let total = 0n;
  for (const { fields } of payments) {
    total += BigInt(String(fields["amount"]));
    if (fields["paidTotal"] !== total.toString())
      throw new ChainUnavailableError(
        `A payment log of ${id} says that ${String(fields["paidTotal"])} is paid; the logs up to it add up to ${total}.`,
      );
  }
  if (total !== paid)
    throw new ChainUnavailableError(
      `The node's payment logs of ${id} add up to ${total}, its figures say ${paid}.`,
    );
}

/** Contracts have kilobytes of code, and nearly every transaction has the same recipient: the last code's hash is kept. */
function codeHasher(): (code: Hex) => Hex {
  let last: { code: Hex; hash: Hex } | undefined;
  return (code) => {
    if (last?.code !== code) last = { code, hash: keccak256(code) };
    return last.hash;
  };
}

function toFunding(
  state: ContractFunctionReturnType<typeof purchaseRegistrarAbi, "view", "funding">,
  asOf: BlockPoint,
): ChainFunding {
  const { collected, allowance, balance } = state;
  return {
    asOf,
    authorization: unlessZero(state.authorization),
    collected,
    validUntil: Number(state.validUntil),
    revokedAt: state.revokedAt === 0n ? null : Number(state.revokedAt),
    allowance,
    balance,
  };
}

function unlessZero(hash: Hex): Hex | null {
  return BigInt(hash) === 0n ? null : hash;
}

async function headBlock(client: PublicClient): Promise<BlockPoint> {
  const block = await client.getBlock({ blockTag: "latest" });
  return { number: Number(block.number), hash: block.hash, timestamp: Number(block.timestamp) };
}

/** Reads how a call reverted out of its revert data. */
function toRevert(data: Hex): ChainRevert {
  const revert = decodeRevert(data);
  return { name: revert?.name ?? null, args: revert?.args ?? {} };
}

async function isValidByContract(
  client: PublicClient,
  wallet: Address,
  digest: Hex,
  signature: Hex,
): Promise<boolean> {
  const abi = parseAbi(["function isValidSignature(bytes32 hash, bytes signature) view returns (bytes32)"]);
  try {
    const answer = await client.readContract({
      address: wallet,
      abi,
      functionName: "isValidSignature",
      args: [digest, signature],
    });
    return answer === magicValue;
  } catch (error) {
    if (error instanceof ContractFunctionExecutionError) return false;
    throw error;
  }
}

function toReceipt(receipt: TransactionReceipt): ObservedReceipt {
  const { status, transactionHash, from, to, blockNumber, blockHash } = receipt;
  return { status, transactionHash, from, to, blockNumber, blockHash, logs: receipt.logs.map(toObservedLog) };
}

function toObservedLog(log: Log<bigint, number, false>): ObservedLog {
  const { address, topics, data, logIndex, blockNumber, blockHash, transactionHash, removed } = log;
  return { address, topics, data, logIndex, blockNumber, blockHash, transactionHash, removed };
}

/** Answers undefined for what the node does not have; every other failure stays one. */
function absent(error: unknown): undefined {
  const missing =
    error instanceof TransactionNotFoundError ||
    error instanceof TransactionReceiptNotFoundError ||
    error instanceof BlockNotFoundError;
  if (!missing) throw error;
}

/** Turns every failure to talk to the node into one error. */
function guarded(chain: Chain): Chain {
  const guard =
    <A extends unknown[], R>(read: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      try {
        return await read(...args);
      } catch (cause) {
        if (cause instanceof BaseError) throw new ChainUnavailableError(cause.shortMessage, { cause });
        throw cause;
      }
    };
  return {
    identity: guard(chain.identity),
    observe: guard(chain.observe),
    walletCode: guard(chain.walletCode),
    purchase: guard(chain.purchase),
    route: guard(chain.route),
    funding: guard(chain.funding),
    cover: guard(chain.cover),
    program: guard(chain.program),
    enrolledAs: guard(chain.enrolledAs),
    nextTime: guard(chain.nextTime),
    simulate: guard(chain.simulate),
    permitNonce: guard(chain.permitNonce),
    verifySignature: guard(chain.verifySignature),
  };
}
