import {
  accountMethods,
  dropMethods,
  gasMethods,
  impersonationMethods,
  nonceMethods,
  signatureMethod,
} from "../../journal/changing-methods.ts";

/** How a method that is passed on is treated. */
type Treatment =
  /** It goes to Anvil with others: its answer is small, whatever is on the chain. */
  | "ask"
  /** It goes alone: in a message with many, Anvil would hold all of their answers, each of which may have many megabytes. */
  | "ask_alone"
  /** It reads a block, which is small unless it has its transactions as a whole. */
  | "block"
  | "filter"
  | "subscribe"
  /** A signed transaction. */
  | "send"
  /** A transaction whose receipt is the answer. */
  | "send_sync"
  /** A transaction that Anvil signs, or that it takes without a signature. */
  | "send_unsigned"
  /** It changes the chain between blocks. */
  | "change"
  /** It runs contract code without a transaction, or mined transactions again: each may use the gas limit, and one runs at a time. */
  | "run"
  /** It runs code, too, if measuring it first shows that its trace fits into memory. */
  | "trace"
  | "mine"
  | "reorg"
  /** It takes a snapshot of the whole sandbox, or goes back to one. */
  | "snapshot"
  | "revert"
  /** It reads the snapshots, too, which are not Anvil's own. */
  | "metadata"
  /** It reads the interval of blocks, which is not Anvil's own. */
  | "interval"
  /** It does nothing: Anvil's log would continue in the next test. */
  | "nothing";

/** Methods that the front passes on. */
interface PassedMethods {
  methods: { readonly [method: string]: Treatment };
  /** The effect on the sandbox. */
  effect: string;
}

/** Methods that the front refuses although Anvil has them. */
interface RefusedMethods {
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

/** Calls that are answered without Anvil, whose log would continue in the next test. */
export const loggingMethods = ["anvil_setLoggingEnabled", "hardhat_setLoggingEnabled"] as const;

/** Everything that is passed on to Anvil; what is in no group is refused. */
export const passedMethods: readonly PassedMethods[] = [
  {
    methods: {
      web3_clientVersion: "ask",
      web3_sha3: "ask",
      net_version: "ask",
      net_listening: "ask",
      eth_networkId: "ask",
      eth_protocolVersion: "ask",
      eth_chainId: "ask",
      eth_accounts: "ask",
      eth_requestAccounts: "ask",
      eth_coinbase: "ask",
      eth_syncing: "ask",
      eth_config: "ask",
      eth_blockNumber: "ask",
      eth_gasPrice: "ask",
      eth_maxPriorityFeePerGas: "ask",
      eth_blobBaseFee: "ask",
      eth_feeHistory: "ask_alone",
      eth_getBalance: "ask",
      eth_getAccount: "ask",
      eth_getAccountInfo: "ask_alone",
      eth_getStorageAt: "ask",
      eth_getStorageValues: "ask_alone",
      eth_getCode: "ask_alone",
      eth_getProof: "ask_alone",
      eth_getTransactionCount: "ask",
      eth_getBlockByHash: "block",
      eth_getBlockByNumber: "block",
      eth_getBlockReceipts: "ask_alone",
      eth_getBlockTransactionCountByHash: "ask",
      eth_getBlockTransactionCountByNumber: "ask",
      eth_getUncleCountByBlockHash: "ask",
      eth_getUncleCountByBlockNumber: "ask",
      eth_getUncleByBlockHashAndIndex: "ask_alone",
      eth_getUncleByBlockNumberAndIndex: "ask_alone",
      eth_getTransactionByHash: "ask_alone",
      eth_getTransactionByBlockHashAndIndex: "ask_alone",
      eth_getTransactionByBlockNumberAndIndex: "ask_alone",
      eth_getTransactionBySenderAndNonce: "ask_alone",
      eth_getTransactionReceipt: "ask_alone",
      eth_getRawTransactionByHash: "ask_alone",
      eth_getRawTransactionByBlockHashAndIndex: "ask_alone",
      eth_getRawTransactionByBlockNumberAndIndex: "ask_alone",
      eth_getLogs: "ask_alone",
      eth_newFilter: "filter",
      eth_newBlockFilter: "filter",
      eth_newPendingTransactionFilter: "filter",
      eth_getFilterChanges: "ask_alone",
      eth_getFilterLogs: "ask_alone",
      eth_uninstallFilter: "ask",
      eth_hashrate: "ask_alone",
      txpool_status: "ask",
      txpool_inspect: "ask_alone",
      txpool_content: "ask_alone",
      erigon_getHeaderByNumber: "ask",
      eth_subscribe: "subscribe",
      eth_unsubscribe: "subscribe",
    },
    effect: "reads and subscriptions, as on any chain",
  },
  {
    methods: {
      debug_getRawTransaction: "ask_alone",
      debug_codeByHash: "ask_alone",
      trace_transaction: "ask_alone",
      trace_block: "ask_alone",
      trace_filter: "ask_alone",
      ots_getApiLevel: "ask_alone",
      ots_getInternalOperations: "ask_alone",
      ots_hasCode: "ask_alone",
      ots_traceTransaction: "ask_alone",
      ots_getTransactionError: "ask_alone",
      ots_getBlockDetails: "ask_alone",
      ots_getBlockDetailsByHash: "ask_alone",
      ots_getBlockTransactions: "ask_alone",
      ots_searchTransactionsBefore: "ask_alone",
      ots_searchTransactionsAfter: "ask_alone",
      ots_getTransactionBySenderAndNonce: "ask_alone",
      ots_getContractCreator: "ask_alone",
    },
    effect: "read traces that Anvil keeps",
  },
  {
    methods: {
      eth_call: "run",
      eth_estimateGas: "run",
      eth_createAccessList: "run",
      eth_fillTransaction: "run",
      eth_simulateV1: "run",
      debug_traceCall: "trace",
      debug_traceTransaction: "run",
      debug_traceBlockByHash: "run",
      debug_traceBlockByNumber: "run",
      trace_replayBlockTransactions: "run",
    },
    effect: "run code without a transaction, within [limits](#limits)",
  },
  {
    methods: {
      eth_sendRawTransaction: "send",
      eth_sendRawTransactionSync: "send_sync",
      eth_sendTransaction: "send_unsigned",
      eth_sendTransactionSync: "send_sync",
      eth_sendUnsignedTransaction: "send_unsigned",
    },
    effect: "send a transaction; a gas limit above the block's is refused",
  },
  {
    methods: {
      eth_sign: "ask",
      eth_signTransaction: "ask",
      eth_signTypedData_v4: "ask",
      personal_sign: "ask",
    },
    effect: "sign with the test wallets",
  },
  {
    methods: each(miningMethods, "mine"),
    effect: "mine; a call that also sets the time is refused",
  },
  {
    methods: each(accountMethods, "change"),
    effect:
      "change the chain, until a restore. If a bound contract has other code, the [binding check](binding.md) `contract` fails",
  },
  {
    methods: each(nonceMethods, "change"),
    effect:
      "change a nonce. If it is raised for a program operator, its next [relay operation](relayer.md#foreign-use-of-the-signers-key) is `needs_attention`",
  },
  {
    methods: each(impersonationMethods, "change"),
    effect:
      "impersonate addresses: their transactions need no key, and [no step of the API accepts them](binding.md#wallets-with-code). A restore brings back the impersonated addresses of the snapshot",
  },
  {
    methods: {
      evm_snapshot: "snapshot",
      anvil_snapshot: "snapshot",
      hardhat_snapshot: "snapshot",
      evm_revert: "revert",
      anvil_revert: "revert",
      hardhat_revert: "revert",
    },
    effect:
      "take and restore a [snapshot](snapshots.md) of the whole sandbox. As in Hardhat and Anvil, each id is used once, and a revert deletes those that were taken after it. A revert returns `false` if the id is unknown, used, or of a state that an earlier restore has removed",
  },
  {
    methods: {
      anvil_reorg: "reorg",
    },
    effect: "replace blocks, within [limits](#reorg-depth)",
  },
  {
    methods: each(dropMethods, "change"),
    effect: "remove transactions from Anvil's transaction pool; the relayer sends its own again",
  },
  {
    methods: each(gasMethods, "change"),
    effect: "set the block gas limit or the next base fee, within [limits](#limits); a restore undoes it",
  },
  {
    methods: {
      anvil_getAutomine: "ask",
      hardhat_getAutomine: "ask",
      anvil_getIntervalMining: "interval",
      anvil_getGenesisTime: "ask",
      anvil_getBlobByHash: "ask_alone",
      anvil_getBlobsByTransactionHash: "ask_alone",
      anvil_nodeInfo: "ask",
      anvil_metadata: "metadata",
      hardhat_metadata: "metadata",
    },
    effect:
      "read data of Anvil. The metadata has the `snapshots` of `evm_snapshot` that can still be restored",
  },
  {
    methods: each(loggingMethods, "nothing"),
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

const treatments = new Map(passedMethods.flatMap(({ methods }) => Object.entries(methods)));
const refused = new Map(refusedMethods.flatMap((group) => group.methods.map((method) => [method, group])));

/** Every method that Anvil has. */
export const knownMethods: ReadonlySet<string> = new Set([...treatments.keys(), ...refused.keys()]);

function each(methods: readonly string[], treatment: Treatment): PassedMethods["methods"] {
  return Object.fromEntries(methods.map((method) => [method, treatment]));
}

/** Returns how a method is treated; undefined for one that is not passed on. */
export function treatmentOf(method: string): Treatment | undefined {
  return treatments.get(method);
}

/** Returns the reason why a method is refused; undefined for one that Anvil does not have or that is passed on. */
export function findRefused(method: string): RefusedMethods | undefined {
  return refused.get(method);
}
