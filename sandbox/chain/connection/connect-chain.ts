import { custom, type EIP1193RequestFn, hexToNumber } from "viem";
import { estimateFeesPerGas } from "viem/actions";
import { z } from "zod";
import type { Fees } from "../../../relayer/context.ts";
import { hexSchema } from "../../../relayer/node/node-schemas.ts";
import { findDifference } from "../../../server/chain/find-difference.ts";
import type { KnownNetwork } from "../../../server/http/services.ts";
import { describeRefusal } from "../../../server/lib/describe-refusal.ts";
import { needsOwnChain } from "../../lib/errors/needs-own-chain.ts";
import { clearInterval, setInterval, wait } from "../../lib/time/timers.ts";
import type { ReplaceableAnvil } from "../anvil/replaceable-anvil.ts";
import { NodeSilentError } from "../client/anvil-silent-error.ts";
import { type ChainClient, createChainClient } from "../client/chain-client.ts";
import type { Impersonation } from "../client/impersonation.ts";
import type { MiningGate } from "../client/reorg.ts";
import { announcedHead, type HeadWatcher, type WatchedHeads } from "../client/watch-heads.ts";
import type { SandboxClock } from "../clock/clock.ts";
import type { Accounts, DeploymentRecord } from "../genesis/deployment-record.ts";
import { nameWallets } from "../genesis/named-wallets.ts";
import type { Filters } from "../rpc/filters.ts";
import type { SendingTerms } from "../sending-terms.ts";
import type { ChainNode } from "../start-chain.ts";
import { type Network, requireUrls, unusable } from "./network.ts";
import { describeNetwork, findNetwork, requireTestNetwork } from "./networks.ts";
import { NodeConnection } from "./node-connection.ts";
import { NodeReader } from "./node-reader.ts";
import { mostBlockLag, wallClock, wallTime } from "./wall-clock.ts";

/** The highest fee per gas that is offered, in wei. A transaction waits while the network asks for more. */
const highestFee = 200n * 10n ** 9n;
/** The seconds that a transaction of the relayer waits before its fees are raised for the first time. */
const raiseAfterSeconds = 60;
/** The bounds of the time between two questions for the newest block, in milliseconds; within them it is the network's time between blocks. */
const pollMs = { shortest: 250, usual: 1_000, longest: 12_000 };
/** The number of blocks that the time between two is measured over. */
const measuredBlocks = 20;
/** How far ahead of the machine's clock the newest block may be, in seconds. */
const mostAhead = 120;
/** How old the newest block of a public network may be, in seconds. A development node may make no block for days. */
const mostBehind = 600;

const pendingBlock = z.object({
  hash: z.string().nullish(),
  timestamp: hexSchema.transform((value) => hexToNumber(value)),
});

/** A node that is no development node of ours, and what reads it. */
export interface ReachedNode {
  connection: NodeConnection;
  reader: NodeReader;
  client: ChainClient;
}

/** Opens a node, and asks it nothing yet. @param firstBlock - nothing that is read is older. */
export function reachNode(urls: readonly string[], firstBlock: number): ReachedNode {
  requireUrls("network.rpcUrls", urls);
  const connection = new NodeConnection(urls);
  const reader = new NodeReader(connection, firstBlock, wallTime);
  const client = createChainClient("", custom({ request: reader.request }, { retryCount: 0 }));
  return { connection, reader, client };
}

/**
 * Makes sure that a node serves a network for tests and is ready. Sends nothing.
 *
 * @returns its chain id.
 * @throws SandboxError node_unusable
 */
export async function requireUsableNode(
  { connection, client }: ReachedNode,
  allowed: number | undefined,
): Promise<number> {
  const chainId = await client.getChainId().catch((error: unknown) => {
    throw unusable(`The node of the option network.rpcUrls does not respond: ${reasonOf(error)}`, error);
  });
  await requireTestNetwork(chainId, allowed);
  const request: EIP1193RequestFn = client.request;
  const syncing: unknown = await request({ method: "eth_syncing" }).catch(() => false);
  if (syncing !== false && syncing !== null)
    throw unusable("The node is not in sync yet. Start again when it is, or name another one.");
  const { timestamp, hash } = await client.getBlock({ blockTag: "latest" });
  const ahead = Number(timestamp) - wallTime();
  if (ahead > mostAhead)
    throw unusable(
      `The newest block is ${ahead} seconds ahead of this machine's clock. Set the clock, and start again.`,
    );
  if ((await findNetwork(chainId)) === undefined) await requireTimelyNext(connection, hash);
  else if (-ahead > mostBehind)
    throw unusable(
      `The newest block is ${-ahead} seconds behind this machine's clock. Set the clock, or name a node that has the newest blocks.`,
    );
  return chainId;
}

/** Makes sure that the next block of a development node would have about the time of this machine: the newest one may be old. @throws SandboxError node_unusable */
async function requireTimelyNext(connection: NodeConnection, newest: string | undefined): Promise<void> {
  const answer = await connection.ask("eth_getBlockByNumber", ["pending", false]).catch(() => null);
  const next = pendingBlock.safeParse(answer).data;
  // A node without pending blocks refuses, or answers with the newest one.
  if (next === undefined || next.hash === newest) return;
  const behind = wallTime() - next.timestamp;
  if (behind > mostBlockLag)
    throw unusable(
      `The node's next block would be ${behind} seconds behind this machine's clock, and its transactions would be refused. Set the clock, or the node's time (evm_increaseTime), and try again.`,
    );
}

/** The longest time, in milliseconds, for what one node of several says of its chain. */
const compareMs = 5_000;

/**
 * Makes sure that each of several nodes that responds serves the same chain.
 *
 * @param difference - what differs from the chain that is expected, as a clause; null for nothing.
 * @throws SandboxError node_unusable
 */
export async function requireSameChain(
  urls: readonly string[],
  difference: (client: ChainClient) => Promise<string | null>,
): Promise<void> {
  if (urls.length < 2) return;
  const differences = await Promise.all(
    urls.map(async (url) => {
      const { connection, client } = reachNode([url], 0);
      try {
        // Another one is asked in place of a node that does not respond.
        return await Promise.race([difference(client), wait(compareMs).then(() => null)]).catch(() => null);
      } finally {
        await connection.close();
      }
    }),
  );
  const index = differences.findIndex((one) => one !== null);
  if (index === -1) return;
  throw unusable(
    `URL ${index + 1} of the option network.rpcUrls is of another chain: ${differences[index]}. Leave it out, or name a node of the same chain.`,
  );
}

function reasonOf(error: unknown): string {
  if (error instanceof NodeSilentError) return error.message;
  return describeRefusal(error) ?? "it refuses the first request.";
}

/**
 * Connects to the chain of a network.
 *
 * @param resumed - whether a data directory has records of it.
 * @throws SandboxError node_unusable when the node is of another chain, epoch or code, or not ready.
 */
export async function connectChain(
  { option, keys, deployment }: Network,
  resumed: boolean,
): Promise<ConnectedChain> {
  const node = reachNode(option.rpcUrls, deployment.epochBlock.number);
  const { client } = node;
  try {
    await requireUsableNode(node, option.allowChainId);
    const difference = await findDifference(client, deployment);
    if (difference !== null)
      throw unusable(
        `The chain is not the one of ${option.deployment}: ${difference}. Name the node that the file belongs to.`,
      );
    await requireSameChain(option.rpcUrls, async (one) => await findDifference(one, deployment));
    const pauseMs = await measureBlockMs(client);
    const programs = Object.entries(keys.programs).map(([id, { operator, commitment_signer }]) => [
      id,
      { operator, commitmentSigner: commitment_signer },
    ]);
    const accounts: Accounts = {
      wallets: nameWallets(keys.wallets),
      programs: Object.fromEntries(programs),
    };
    const network = await describeNetwork(deployment.chainId);
    return new ConnectedChain(node, { network, deployment, accounts, pauseMs, resumed });
  } catch (error) {
    await node.connection.close();
    throw error;
  }
}

/** Measures the time between two blocks, in milliseconds. */
async function measureBlockMs(client: ChainClient): Promise<number> {
  const latest = await client.getBlock({ blockTag: "latest" });
  if (latest.number < measuredBlocks) return pollMs.usual;
  const earlier = await client.getBlock({ blockNumber: latest.number - BigInt(measuredBlocks) });
  const measured = (Number(latest.timestamp - earlier.timestamp) * 1_000) / measuredBlocks;
  return Math.min(pollMs.longest, Math.max(pollMs.shortest, measured));
}

/** Estimates the fees of a transaction, in wei. */
export async function estimateFees(client: ChainClient): Promise<Fees> {
  const estimated = await estimateFeesPerGas(client);
  const least = (fee: bigint) => (fee < highestFee ? fee : highestFee);
  return {
    maxFeePerGas: least(estimated.maxFeePerGas),
    maxPriorityFeePerGas: least(estimated.maxPriorityFeePerGas),
  };
}

/** The terms on a development node, on which nothing is signed while its next block would be too far behind: its time can be set back. */
function timelyTerms({ connection, client, reader }: ReachedNode, pauseMs: number): SendingTerms {
  const terms = termsOn(client, pauseMs);
  return {
    ...terms,
    async fees() {
      await requireTimelyNext(connection, reader.newest?.hash);
      return await terms.fees();
    },
  };
}

/**
 * Returns the terms of transactions on a node.
 *
 * @param pauseMs - the time between two blocks, in milliseconds.
 * @example termsOn(client).receiptPauseMs // 500
 */
export function termsOn(client: ChainClient, pauseMs: number = pollMs.usual): SendingTerms {
  return {
    fees: async () => await estimateFees(client),
    receiptPauseMs: pauseMs / 2,
    raiseAfterSeconds,
  };
}

/** A chain that a node serves. */
export class ConnectedChain implements ChainNode {
  readonly isOwn = false;
  readonly network: KnownNetwork | null;
  readonly client: ChainClient;
  readonly request: EIP1193RequestFn;
  readonly clock: SandboxClock;
  readonly terms: SendingTerms;
  readonly deployment: DeploymentRecord;
  readonly accounts: Accounts;
  readonly resumed: boolean;
  readonly journal = null;
  readonly #node: ReachedNode;
  readonly #pauseMs: number;

  constructor(
    node: ReachedNode,
    of: Pick<ChainNode, "network" | "deployment" | "accounts" | "resumed"> & { pauseMs: number },
  ) {
    const { client, reader } = node;
    this.client = client;
    this.request = reader.request;
    this.clock = wallClock(() => reader.newest?.timestamp ?? 0);
    this.terms = of.network === null ? timelyTerms(node, of.pauseMs) : termsOn(client, of.pauseMs);
    this.network = of.network;
    this.deployment = of.deployment;
    this.accounts = of.accounts;
    this.resumed = of.resumed;
    this.#node = node;
    this.#pauseMs = of.pauseMs;
  }

  /** The number of requests that the node got since the start, by method. */
  get sent(): ReadonlyMap<string, number> {
    return this.#node.connection.sent;
  }

  /** Has heads announced by the node or, while it announces none, asks for the newest block about once for each block. */
  async watchHeads({ announce }: HeadWatcher): Promise<WatchedHeads> {
    const { connection, reader } = this.#node;
    const { performance } = globalThis;
    let unsubscribe: (() => void) | null = null;
    let isLost = true;
    let heardAt = Number.NEGATIVE_INFINITY;
    const subscribe = async () => {
      isLost = false;
      unsubscribe = await connection.subscribe(
        (head) => {
          heardAt = performance.now();
          reader.note(head);
          announce(head);
        },
        () => {
          isLost = true;
        },
      );
    };
    let last: string | undefined;
    const look = async () => {
      const block: unknown = await this.request({
        method: "eth_getBlockByNumber",
        params: ["latest", false],
      });
      const head = announcedHead.parse(block);
      if (head.hash === last) return;
      last = head.hash;
      announce(head);
    };
    const lookUnlessAnnounced = async () => {
      if (performance.now() - heardAt < 2 * this.#pauseMs) return;
      await look();
      if (isLost) await subscribe();
    };
    await subscribe();
    announce(null);
    // A node that does not answer is asked again.
    const polling = setInterval(() => void lookUnlessAnnounced().catch(() => undefined), this.#pauseMs);
    return {
      async reconnect() {},
      close() {
        unsubscribe?.();
        clearInterval(polling);
      },
    };
  }

  async stop(): Promise<void> {
    await this.#node.connection.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  get anvil(): ReplaceableAnvil {
    throw needsOwnChain("Anvil");
  }

  get gate(): MiningGate {
    throw needsOwnChain("Mining");
  }

  get impersonation(): Impersonation {
    throw needsOwnChain("Impersonation");
  }

  get filters(): Filters {
    throw needsOwnChain("The chain RPC");
  }

  get stateFile(): string {
    throw needsOwnChain("The chain's state");
  }
}
