import type { Json } from "../../../protocol/values/json.ts";

/** A fault of a walk: what the control API takes to set it. */
interface WalkFault {
  body: { [field: string]: Json };
  /**
   * The status that the request may get besides its success; 0: the connection drops without an answer. The relayer's faults leave
   * its operation unfinished, which is 202.
   */
  status: number;
}

const relayer = (point: string, action: string): WalkFault => ({
  body: { layer: "relayer", point, action },
  status: 202,
});
const api = (point: string, action: string, status: number): WalkFault => ({
  body: { layer: "api", point, action },
  status,
});

/** Faults that act on the offer or the collection that a step starts. */
const relayerFaults = {
  held: relayer("after_intent", "hold"),
  held_when_signed: relayer("after_signed", "hold"),
  simulation_refused: relayer("simulate", "rpc_error"),
  broadcast_refused: relayer("broadcast", "rpc_error"),
  broadcast_unanswered: relayer("broadcast", "lose_response"),
  receipt_unanswered: relayer("receipt", "lose_response"),
  sent_twice: relayer("broadcast", "duplicate"),
  cannot_pay: relayer("broadcast", "insufficient_funds"),
  reorganized: relayer("after_mined", "reorg"),
};

/** Faults that act on any write. */
const writeFaults = {
  answer_lost: { body: { intent: "answer-lost" }, status: 0 },
  answer_cut: api("after_commit", "partial", 0),
  connection_lost: api("before_commit", "reset", 0),
  limited: api("before_commit", "429", 429),
  unavailable: api("after_commit", "503", 503),
  node_down: { body: { intent: "node-down", caller: "api" }, status: 503 },
};

const faults: { readonly [name: string]: WalkFault } = { ...relayerFaults, ...writeFaults };

/** A fault of a walk. */
export type FaultName = keyof typeof relayerFaults | keyof typeof writeFaults;

/** The faults of a walk. */
export const faultNames = [...namesOf(relayerFaults), ...namesOf(writeFaults)] as const;

/** Returns the fault of a name. */
export function faultOf(name: FaultName): WalkFault {
  const fault = faults[name];
  if (fault === undefined) throw new Error(`There is no fault ${name}.`);
  return fault;
}

/** Returns whether a fault acts on the relayer only. */
export function isOfRelayer(name: FaultName): boolean {
  return Object.hasOwn(relayerFaults, name);
}

/** The fault that holds the next collection before it has a nonce: its refund is due until it is requested again. */
export const heldCollection: { readonly [field: string]: Json } = {
  layer: "relayer",
  point: "nonce",
  action: "hold",
  match: { kind: "collect_refund" },
};

/** The fault that makes the next deliveries fail with a status. */
export function deliveryFault(status: number, count: number): { [field: string]: Json } {
  return { layer: "delivery", action: "answer", status, count };
}

function namesOf<T extends object>(object: T): (keyof T)[] {
  return Object.keys(object) as (keyof T)[];
}
