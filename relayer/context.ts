import type { Address, EIP1193RequestFn, Hex, LocalAccount } from "viem";
import type { FaultPoint, RelayerFaults } from "./faults/fault.ts";
import type { RelayOperationKind } from "./journal/relay-operation.ts";
import type { RelayerJournal } from "./journal/relayer-journal.ts";
import type { KeyedMutex } from "./keyed-mutex.ts";
import type { Node } from "./node/node.ts";
import type { BeforeNonce, EffectCheck, Precondition } from "./precondition.ts";
import type { HeadTrail } from "./recovery/head-trail.ts";

/** The fees of a transaction, in wei per gas. */
export interface Fees {
  maxFeePerGas: bigint;
  maxPriorityFeePerGas: bigint;
}

/** The dependencies of the relayer; it reaches nothing else. */
export interface RelayerPorts {
  journal: RelayerJournal;
  /** The node. Faults act around it. */
  request: EIP1193RequestFn;
  chain: { identity(): Promise<{ chainId: number; epoch: Hex }> };
  /** The wallets that it can sign for, each with one nonce sequence. */
  signers: readonly LocalAccount[];
  /** Unix seconds, in chain time. */
  clock: { now(): Promise<number> };
  /** Lets time pass between two looks for a transaction receipt. */
  wait: (milliseconds: number) => Promise<void>;
  /** Returns whether answers no longer wait for a transaction receipt; by default they do. */
  skipsWaits?: () => boolean;
  /** Blocks that must confirm a transaction, its own included. */
  confirmations: number;
  /** The gas budget of each program, in wei. */
  gasBudgetWei: bigint;
  /** Returns the fees of a transaction that is signed now. */
  fees: () => Promise<Fees>;
  /** The seconds that a transaction waits for a block before its fees are raised, and then twice as many; never if not given. */
  raiseAfterSeconds?: number | null;
  /** The longest pause between two looks for a transaction receipt, in milliseconds. */
  receiptPauseMs?: number;
  gasLimits: Readonly<Record<RelayOperationKind, bigint>>;
  /** The conditions for a call to be mined, beyond those of the contract, by kind. */
  preconditions: { readonly [K in RelayOperationKind]?: Precondition };
  /** The functions that record what is needed before an operation may be sent, by kind. */
  beforeNonce: { readonly [K in RelayOperationKind]?: BeforeNonce };
  /** The checks for another effect that a mined call can have had, by kind. */
  effectChecks: { readonly [K in RelayOperationKind]?: EffectCheck };
  /** The longest time that an answer may wait for a transaction receipt, in milliseconds of `wait`. */
  receiptTimeoutMs: number;
  /** The faults that it meets. */
  faults: RelayerFaults;
  /** Ends the process at a point of the journal. It must not return; needed only by the fault `crash`. */
  crash?: (point: FaultPoint) => Promise<never>;
}

/** The ports and the little that is kept in memory: who is at work, and which heads were looked at. */
export interface RelayerContext extends Omit<RelayerPorts, "request"> {
  node: Node;
  accounts: ReadonlyMap<Address, LocalAccount>;
  locks: KeyedMutex;
  trail: HeadTrail;
}
