import {
  accountMethods,
  dropMethods,
  gasMethods,
  impersonationMethods,
  nonceMethods,
  signatureMethod,
} from "../../journal/changing-methods.ts";

/** Methods that the front passes on, and what they do to the sandbox. */
export interface PassedMethods {
  methods: readonly string[];
  effect: string;
}

/** Methods that the front refuses although Anvil has them. */
export interface RefusedMethods {
  methods: readonly string[];
  /** The reason for the refusal, as the end of a sentence. */
  why: string;
  /** The alternative to the call. */
  instead: string;
}

/** Blocks that are mined on request. */
export const miningMethods = [
  "evm_mine",
  "anvil_mine",
  "hardhat_mine",
  "evm_mine_detailed",
  "anvil_mine_detailed",
] as const;

/** Calls that run contract code without a transaction; each may use the gas limit and runs alone. */
export const executionMethods = [
  "eth_call",
  "eth_estimateGas",
  "eth_createAccessList",
  "eth_fillTransaction",
  "eth_simulateV1",
  "debug_traceCall",
] as const;

/** Calls that run mined transactions again; each runs alone. */
export const replayMethods = [
  "debug_traceTransaction",
  "debug_traceBlockByHash",
  "debug_traceBlockByNumber",
  "trace_replayBlockTransactions",
] as const;

/** Calls that are answered without Anvil, whose log would continue in the next test. */
export const loggingMethods = ["anvil_setLoggingEnabled", "hardhat_setLoggingEnabled"] as const;

/** Calls that make a filter. */
export const filterMethods = [
  "eth_newFilter",
  "eth_newBlockFilter",
  "eth_newPendingTransactionFilter",
] as const;

/**
 * Calls whose answers are small, whatever is on the chain: many of them go to Anvil in one message. Of the others, a message with many would
 * have Anvil hold all of its answers, each of which may have many megabytes.
 */
export const smallMethods = [
  "web3_clientVersion",
  "web3_sha3",
  "net_version",
  "net_listening",
  "eth_networkId",
  "eth_protocolVersion",
  "eth_chainId",
  "eth_accounts",
  "eth_requestAccounts",
  "eth_coinbase",
  "eth_syncing",
  "eth_config",
  "eth_blockNumber",
  "eth_gasPrice",
  "eth_maxPriorityFeePerGas",
  "eth_blobBaseFee",
  "eth_getBalance",
  "eth_getAccount",
  "eth_getStorageAt",
  "eth_getTransactionCount",
  "eth_getBlockTransactionCountByHash",
  "eth_getBlockTransactionCountByNumber",
  "eth_getUncleCountByBlockHash",
  "eth_getUncleCountByBlockNumber",
  "eth_uninstallFilter",
  "eth_sendTransaction",
  "eth_sendUnsignedTransaction",
  "eth_sign",
  "eth_signTransaction",
  "eth_signTypedData_v4",
  "personal_sign",
  "txpool_status",
  "erigon_getHeaderByNumber",
  "anvil_getAutomine",
  "hardhat_getAutomine",
  "anvil_getGenesisTime",
  "anvil_nodeInfo",
] as const;

/** Calls that take a snapshot of the whole sandbox, and go back to one. */
export const snapshotMethods = ["evm_snapshot", "anvil_snapshot", "hardhat_snapshot"] as const;
export const revertMethods = ["evm_revert", "anvil_revert", "hardhat_revert"] as const;

/** Calls that belong to one WebSocket. */
export const subscriptionMethods = ["eth_subscribe", "eth_unsubscribe"] as const;

/** Everything that is passed on to Anvil; what is in no group is refused. */
export const passedMethods: readonly PassedMethods[] = [
  {
    methods: [
      "web3_clientVersion",
      "web3_sha3",
      "net_version",
      "net_listening",
      "eth_networkId",
      "eth_protocolVersion",
      "eth_chainId",
      "eth_accounts",
      "eth_requestAccounts",
      "eth_coinbase",
      "eth_syncing",
      "eth_config",
      "eth_blockNumber",
      "eth_gasPrice",
      "eth_maxPriorityFeePerGas",
      "eth_blobBaseFee",
      "eth_feeHistory",
      "eth_getBalance",
      "eth_getAccount",
      "eth_getAccountInfo",
      "eth_getStorageAt",
      "eth_getStorageValues",
      "eth_getCode",
      "eth_getProof",
      "eth_getTransactionCount",
      "eth_getBlockByHash",
      "eth_getBlockByNumber",
      "eth_getBlockReceipts",
      "eth_getBlockTransactionCountByHash",
      "eth_getBlockTransactionCountByNumber",
      "eth_getUncleCountByBlockHash",
      "eth_getUncleCountByBlockNumber",
      "eth_getUncleByBlockHashAndIndex",
      "eth_getUncleByBlockNumberAndIndex",
      "eth_getTransactionByHash",
      "eth_getTransactionByBlockHashAndIndex",
      "eth_getTransactionByBlockNumberAndIndex",
      "eth_getTransactionBySenderAndNonce",
      "eth_getTransactionReceipt",
      "eth_getRawTransactionByHash",
      "eth_getRawTransactionByBlockHashAndIndex",
      "eth_getRawTransactionByBlockNumberAndIndex",
      "eth_getLogs",
      "eth_newFilter",
      "eth_newBlockFilter",
      "eth_newPendingTransactionFilter",
      "eth_getFilterChanges",
      "eth_getFilterLogs",
      "eth_uninstallFilter",
      "eth_hashrate",
      "txpool_status",
      "txpool_inspect",
      "txpool_content",
      "erigon_getHeaderByNumber",
      ...subscriptionMethods,
    ],
    effect: "reads and subscriptions, as on any chain",
  },
  {
    methods: [
      "debug_getRawTransaction",
      "debug_codeByHash",
      "trace_transaction",
      "trace_block",
      "trace_filter",
      "ots_getApiLevel",
      "ots_getInternalOperations",
      "ots_hasCode",
      "ots_traceTransaction",
      "ots_getTransactionError",
      "ots_getBlockDetails",
      "ots_getBlockDetailsByHash",
      "ots_getBlockTransactions",
      "ots_searchTransactionsBefore",
      "ots_searchTransactionsAfter",
      "ots_getTransactionBySenderAndNonce",
      "ots_getContractCreator",
    ],
    effect: "read traces that Anvil keeps",
  },
  {
    methods: [...executionMethods, ...replayMethods],
    effect: "run code without a transaction, within [limits](#limits)",
  },
  {
    methods: [
      "eth_sendRawTransaction",
      "eth_sendRawTransactionSync",
      "eth_sendTransaction",
      "eth_sendTransactionSync",
      "eth_sendUnsignedTransaction",
    ],
    effect: "send a transaction; a gas limit above the block's is refused",
  },
  {
    methods: ["eth_sign", "eth_signTransaction", "eth_signTypedData_v4", "personal_sign"],
    effect: "sign with the test wallets",
  },
  {
    methods: miningMethods,
    effect: "mine; a call that also sets the time is refused",
  },
  {
    methods: accountMethods,
    effect:
      "change the chain. The [binding check](binding.md) reads the changed state: if a bound contract has other code, the check `contract` fails. A restore undoes the change",
  },
  {
    methods: nonceMethods,
    effect:
      "change a nonce. If you raise the nonce of a program operator's account, the relayer sets the account's next [relay operation](relayer.md) to `needs_attention`",
  },
  {
    methods: impersonationMethods,
    effect:
      "impersonate addresses: transactions from them need no key until you stop the impersonation. A restore brings back the impersonated addresses of the snapshot. These transactions have no signature, so no step of the API accepts them",
  },
  {
    methods: [...snapshotMethods, ...revertMethods],
    effect:
      "take a snapshot of the whole sandbox, and restore it: chain, store, relayer and clock as one, as [sandbox.snapshot()](snapshots.md) does. Ids are those of Hardhat and Anvil: each is used once, and a revert deletes those that were taken after it. A revert answers `false` if the id is unknown, used, or of a state that an earlier restore has removed",
  },
  {
    methods: ["anvil_reorg"],
    effect:
      "replace blocks, within [limits](#limits). The API and the relayer then use the new blocks. The call first waits for a block in progress, and [time does not go back](#time-and-reorgs)",
  },
  {
    methods: dropMethods,
    effect: "remove transactions from Anvil's transaction pool; the relayer sends its own again",
  },
  {
    methods: gasMethods,
    effect: "set the block gas limit or the next base fee, within [limits](#limits); a restore undoes it",
  },
  {
    methods: [
      "anvil_getAutomine",
      "hardhat_getAutomine",
      "anvil_getIntervalMining",
      "anvil_getGenesisTime",
      "anvil_getBlobByHash",
      "anvil_getBlobsByTransactionHash",
      "anvil_nodeInfo",
      "anvil_metadata",
      "hardhat_metadata",
    ],
    effect: "read data of Anvil itself",
  },
  {
    methods: loggingMethods,
    effect: "do nothing: the sandbox does not show Anvil's log",
  },
];

/** The alternative to a call that would move the time. */
export const timeInstead =
  "Move the time of chain and API together: routing-sandbox travel, or sandbox.clock.travel().";

/** The methods that Anvil has and the front refuses, with the reason. */
export const refusedMethods: readonly RefusedMethods[] = [
  {
    methods: ["anvil_rollback"],
    why: "time would go back",
    instead: "Replace blocks with anvil_reorg, or restore a snapshot.",
  },
  {
    methods: ["anvil_reset", "hardhat_reset", "anvil_loadState", "hardhat_loadState"],
    why: "contracts, epoch and every record would belong to another chain",
    instead:
      "Create a new sandbox with routing-sandbox start --fresh, or continue from a whole sandbox: routing-sandbox snapshot load.",
  },
  {
    methods: ["anvil_dumpState", "hardhat_dumpState"],
    why: "it would block the chain for all clients for seconds, and a dump of the chain alone cannot be loaded",
    instead: "Save the whole sandbox: routing-sandbox snapshot save, or sandbox.save().",
  },
  {
    methods: ["anvil_setChainId"],
    why: "every signature and commitment names this chain",
    instead: "Keep the chain id. To get another chain epoch, start a sandbox with another seed.",
  },
  {
    methods: ["anvil_setRpcUrl"],
    why: "the sandbox's chain is not a fork",
    instead: "Deploy the contracts that you need on the sandbox's chain.",
  },
  {
    methods: ["anvil_setCoinbase", "hardhat_setCoinbase"],
    why: "a restore cannot undo it, so equal runs would differ",
    instead: "Leave the coinbase as it is.",
  },
  {
    methods: [signatureMethod],
    why: "a restore cannot undo it, so the next test would accept the signature, too",
    instead:
      "Sign with the account's own key, or send the transaction from the account: anvil_impersonateAccount.",
  },
  {
    methods: ["evm_setAutomine", "anvil_setAutomine", "evm_setIntervalMining", "anvil_setIntervalMining"],
    why: "a fault that pauses mining could not restore this setting afterwards",
    instead:
      "Choose when blocks are mined: routing-sandbox mine --every, or POST /mining of the control API.",
  },
  {
    methods: [
      "evm_increaseTime",
      "anvil_increaseTime",
      "evm_setTime",
      "anvil_setTime",
      "evm_setNextBlockTimestamp",
      "anvil_setNextBlockTimestamp",
      "anvil_setBlockTimestampInterval",
      "anvil_removeBlockTimestampInterval",
    ],
    why: "API time is chain time",
    instead: timeInstead,
  },
  {
    methods: ["anvil_setMinGasPrice", "hardhat_setMinGasPrice"],
    why: "fees follow EIP-1559 here",
    instead: "Set the next block's base fee: anvil_setNextBlockBaseFeePerGas.",
  },
  {
    methods: ["anvil_setFeeToken", "anvil_setValidatorFeeToken", "anvil_setFeeAmmLiquidity"],
    why: "Anvil supports it only on Tempo networks, a different kind of chain",
    instead: "Pay fees in ether.",
  },
  {
    methods: ["eth_signTypedData", "eth_signTypedData_v3"],
    why: "Anvil does not implement it",
    instead: "Sign typed data with eth_signTypedData_v4.",
  },
  {
    methods: ["eth_getWork", "eth_submitWork", "eth_submitHashrate"],
    why: "Anvil does not implement it, because its chain has no proof of work",
    instead: "Mine blocks with anvil_mine.",
  },
  {
    methods: ["debug_dbGet"],
    why: "Anvil takes no list of parameters for it",
    instead: "Read state with eth_getProof, eth_getStorageAt or eth_getCode.",
  },
];

const passed = new Set(passedMethods.flatMap(({ methods }) => methods));
const refused = new Map(refusedMethods.flatMap((group) => group.methods.map((method) => [method, group])));

/** Returns whether a method is passed on to Anvil. */
export function isPassed(method: string): boolean {
  return passed.has(method);
}

/** Returns the reason why a method is refused; undefined for one that Anvil does not have or that is passed on. */
export function findRefused(method: string): RefusedMethods | undefined {
  return refused.get(method);
}
