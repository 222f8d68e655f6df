import {
  createPublicClient,
  type Hex,
  http,
  type PublicClient,
  type PublicRpcSchema,
  type RpcTransactionReceipt,
  type RpcTransactionRequest,
  rpcSchema,
  type TestActions,
  type Transport,
  testActions,
} from "viem";
import { fetchDirect } from "../../lib/http/direct/fetch-direct.ts";
import { withOwnGlobals } from "../../lib/http/direct/with-own-globals.ts";

/** Anvil's methods that viem has no action for, or an action that hides the answer. */
type AnvilMethods = [
  /** Sets the clock to a Unix time in seconds, from where it runs on. */
  { Method: "evm_setTime"; Parameters: [timestamp: number]; ReturnType: number },
  /** Makes a block of exactly this Unix time in seconds. */
  { Method: "evm_mine"; Parameters: [{ timestamp: number }]; ReturnType: string },
  /** Goes back to a snapshot, which this uses up; false when there is none with this id. */
  { Method: "evm_revert"; Parameters: [id: Hex]; ReturnType: boolean },
  { Method: "anvil_dropAllTransactions"; Parameters?: undefined; ReturnType: null },
  /** Answers when the transaction's block is made. */
  {
    Method: "eth_sendTransactionSync";
    Parameters: [RpcTransactionRequest];
    ReturnType: RpcTransactionReceipt;
  },
  /** Seconds between blocks, or null. */
  { Method: "anvil_getIntervalMining"; Parameters?: undefined; ReturnType: number | null },
  /** Replaces the newest blocks with others, by default empty ones. */
  {
    Method: "anvil_reorg";
    Parameters: [depth: number, transactions: readonly (readonly [string | object, number])[]];
    ReturnType: null;
  },
  /** About the node; of its snapshots, the number and hash of each block. */
  {
    Method: "anvil_metadata";
    Parameters?: undefined;
    ReturnType: { snapshots: { [id: Hex]: readonly [number, Hex] } };
  },
  /** The chain's state, on request with the state of each block: JSON, compressed with gzip. */
  { Method: "anvil_dumpState"; Parameters: [preserveHistoricalStates: boolean]; ReturnType: Hex },
];

/**
 * Reads from and steers an Anvil: viem's public and test actions on one client, without caches that would outlive a revert and
 * without retries that would hide a fault.
 */
export function createChainClient(url: string, transport: Transport = httpDirect(url)): ChainClient {
  return createPublicClient({
    transport,
    rpcSchema: rpcSchema<[...PublicRpcSchema, ...AnvilMethods]>(),
    cacheTime: 0,
    pollingInterval: 10,
  }).extend(testActions({ mode: "anvil" }));
}

/** viem's transport over HTTP, past what the tests replace: before it first waits, viem makes a global `Request` of each call. */
function httpDirect(url: string): Transport {
  const open = http(url, { retryCount: 0, fetchFn: fetchDirect });
  return (parameters) => {
    const opened = open(parameters);
    const request: typeof opened.request = (...call) => withOwnGlobals(() => opened.request(...call));
    return { ...opened, request };
  };
}

/** The client that {@link createChainClient} returns. */
export type ChainClient = PublicClient<
  Transport,
  undefined,
  undefined,
  [...PublicRpcSchema, ...AnvilMethods]
> &
  TestActions;
