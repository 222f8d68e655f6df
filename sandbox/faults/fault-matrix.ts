import { faultPlacements } from "../../relayer/faults/fault.ts";
import { apiFaultPlacements } from "../../server/http/faults/api-fault.ts";

/** The points of each action, by layer: the list of all faults. */
const faultMatrix = {
  /** The routing API: its writes. */
  api: apiFaultPlacements,
  /** The relayer, which sends the program operator's transactions. */
  relayer: faultPlacements,
  /** The calls that the API and the relayer make to the node. */
  rpc: {
    /** The node accepts no connection. */
    refuse: ["before_call"],
    /** The node refuses with an internal error (-32603). */
    rpc_error: ["before_call"],
    /** The call waits. */
    delay: ["before_call"],
    /** The node executes the call; its answer is lost. */
    lose_response: ["after_call"],
  },
  /** The chain, at once. */
  chain: {
    /** The newest blocks leave the chain. */
    reorg: ["now"],
    /** The node mines nothing until the faults are cleared. */
    pause_mining: ["now"],
  },
  /** The deliveries of notifications. */
  delivery: {
    /** The receiver answers with a status that is not a success, and does not accept the event. */
    answer: ["at_receiver"],
    /** The receiver waits before it accepts the event. */
    delay: ["at_receiver"],
    /** The receiver drops the connection without an answer. */
    reset: ["at_receiver"],
    /**
     * The process crashes: when the attempt is recorded and nothing is sent, when the receiver has answered and the outcome is not recorded,
     * or when the outcome is recorded and the next attempt is not.
     */
    crash: ["before_delivery", "after_delivery", "before_pause"],
  },
} as const satisfies { [layer: string]: { [action: string]: readonly string[] } };

type Matrix = typeof faultMatrix;

/** A layer of the sandbox that faults act in. */
export type FaultLayer = keyof Matrix;

/** An action of the faults of a layer. */
export type LayerAction<L extends FaultLayer = FaultLayer> = L extends FaultLayer
  ? keyof Matrix[L] & string
  : never;

/** A point of the faults of a layer. */
export type LayerPoint<L extends FaultLayer = FaultLayer> = L extends FaultLayer
  ? Extract<Matrix[L][keyof Matrix[L]], readonly string[]>[number]
  : never;

/** The layers. */
export const faultLayers = Object.keys(faultMatrix) as readonly FaultLayer[];

/** The points of the actions of a layer. */
export function placementsOf(layer: FaultLayer): { readonly [action: string]: readonly string[] } {
  return faultMatrix[layer];
}

/** Every point of a layer, once. */
export function pointsOf(layer: FaultLayer): string[] {
  return [...new Set(Object.values(placementsOf(layer)).flat())];
}

/** The details of a fault that does not name them. */
export const faultDefaults = { count: 1, depth: 1, delay_ms: 1_000, status: 503 } as const;

/** The longest delay of a fault, in milliseconds, and the statuses that a receiver can be made to answer. */
export const faultLimits = { delayMs: 60_000, status: { least: 300, most: 599 } } as const;

/** Who calls the node. */
export const rpcCallers = ["api", "relayer"] as const;

/** Who calls the node. */
export type RpcCaller = (typeof rpcCallers)[number];

/** The common faults: each name stands for an entry of the matrix. */
export const faultIntents = {
  /** The write is recorded, then the connection drops. */
  "answer-lost": { layer: "api", point: "after_commit", action: "reset" },
  /** The node accepts no connection from the API and the relayer, until the faults are cleared. */
  "node-down": { layer: "rpc", point: "before_call", action: "refuse", count: null },
  /** The newest blocks leave the chain: at once, or at a point of the relayer. */
  reorg: { layer: "chain", point: "now", action: "reorg" },
  /** The process crashes: when a write is recorded and not answered, or at a point of the API or the relayer. */
  crash: { layer: "api", point: "after_commit", action: "crash" },
  /** A write waits before it is recorded. */
  slow: { layer: "api", point: "before_commit", action: "delay" },
} as const satisfies {
  [intent: string]: { layer: FaultLayer; point: string; action: string; count?: number | null };
};

/** The name of a common fault. */
export type FaultIntent = keyof typeof faultIntents;

/** The names of the common faults. */
export const faultIntentNames = Object.keys(faultIntents) as readonly FaultIntent[];
