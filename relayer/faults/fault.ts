import { FaultInvalidError } from "../errors.ts";
import type { RelayOperationRecord } from "../journal/relay-operation.ts";
import { type RelayOperationKind, relayOperationKinds } from "../journal/relay-operation-kind.ts";

/** The points where a fault can act, in the order in which an operation passes them. */
export const faultPoints = [
  /** Nothing is written. */
  "before_intent",
  /** W1 is durable: the intent and its reservation. */
  "after_intent",
  /** RPC: the call is about to be simulated. */
  "simulate",
  /** RPC: the signer's nonce on chain is about to be read. */
  "nonce",
  /** A nonce is chosen; nothing of it is written. */
  "before_signed",
  /** W2 is durable: nonce, signed bytes and hash. */
  "after_signed",
  /** RPC: the signed bytes are about to be sent. */
  "broadcast",
  /** The node answered; W3 is not written. */
  "sent",
  /** W3 is durable: the outcome of the broadcast. */
  "after_broadcast",
  /** RPC: the receipt is about to be read. */
  "receipt",
  /** The receipt is known; W4 is not written. */
  "before_mined",
  /** W4 is durable: receipt and settlement. */
  "after_mined",
  /** Enough confirmations are known; W5 is not written. */
  "before_confirmed",
  /** W5 is durable: the confirmation. */
  "after_confirmed",
] as const;

/** A point where a fault can act. */
export type FaultPoint = (typeof faultPoints)[number];

/** The points where each action of a fault can act. */
export const faultPlacements = {
  /** The process dies. */
  crash: faultPoints,
  /** The operation stops here, this time; looking at it again continues. */
  hold: faultPoints.slice(1),
  /** The node stops mining, until the fault is cleared. */
  pause_mining: faultPoints,
  /** The node refuses with an internal error. */
  rpc_error: ["simulate", "nonce", "broadcast", "receipt"],
  /** The node does what it is asked; its answer is lost. */
  lose_response: ["simulate", "nonce", "broadcast", "receipt"],
  /** The node seems to take the transaction and never has it. */
  drop: ["broadcast"],
  /** The transaction is sent twice. */
  duplicate: ["broadcast"],
  /** The node refuses because the signer cannot pay. */
  insufficient_funds: ["broadcast"],
  /** Another program uses the signer's next nonce first. */
  foreign_nonce: ["nonce", "broadcast"],
  /** The relayer raises the fee of its own transaction. */
  replace: ["after_signed", "after_broadcast"],
  /** The newest blocks leave the chain. */
  reorg: ["after_broadcast", "after_mined", "after_confirmed"],
} as const satisfies Record<string, readonly FaultPoint[]>;

/** The action of a fault. */
export type FaultAction = keyof typeof faultPlacements;

/** The actions of faults. */
export const faultActions = Object.keys(faultPlacements) as readonly FaultAction[];

/** The operations that a fault concerns; every named field must match. */
interface FaultMatch {
  operation_id?: string;
  program?: string;
  kind?: RelayOperationKind;
  subject_id?: string;
}

/** The fields of a fault's match. */
const matchFields = ["operation_id", "program", "kind", "subject_id"] as const satisfies (keyof FaultMatch)[];

/** A fault to set. */
export interface FaultRequest {
  point: FaultPoint;
  action: FaultAction;
  /** Every operation when absent. */
  match?: FaultMatch;
  /** The number of times that it acts; 1 when absent, null until it is cleared. */
  count?: number | null;
  /** The number of blocks that a reorg removes; 1 when absent. */
  depth?: number;
}

/** A fault that is set: plain data, so that it can be part of a snapshot. */
export interface Fault {
  point: FaultPoint;
  action: FaultAction;
  match: FaultMatch;
  /** The number of times that it will still act; null until it is cleared. */
  remaining: number | null;
  /** The number of times that it has acted. */
  hits: number;
  depth: number;
}

/** The operation at which a fault acts. */
export type FaultSubject = Pick<RelayOperationRecord, "operation_id" | "program" | "kind" | "subject">;

/** The node's mining mode before a fault paused it. */
export interface MiningMode {
  automine: boolean;
  /** Seconds between blocks, or null. */
  interval: number | null;
}

/** The faults and what clearing them must undo: plain data. */
export interface FaultState {
  faults: Fault[];
  /** Set while a fault has paused mining. */
  mining: MiningMode | null;
}

/** The faults that are set. */
export class FaultPlan {
  #faults: Fault[] = [];
  #mining: MiningMode | null = null;
  readonly #programs: readonly string[];

  /** @param programs - the ids that a fault's match can name. */
  constructor(programs: readonly string[]) {
    this.#programs = programs;
  }

  /** @throws FaultInvalidError when the fault is malformed or could never act. */
  add(request: FaultRequest): Fault {
    const { point, action, match = {}, count = 1, depth = 1 } = request;
    requirePlacement(request);
    requireMatch(match, this.#programs);
    if (count !== null && !(Number.isSafeInteger(count) && count > 0))
      throw new FaultInvalidError(`count is from 1, or null for always, not ${JSON.stringify(count)}.`);
    if (!(Number.isSafeInteger(depth) && depth > 0))
      throw new FaultInvalidError(`depth is from 1, not ${JSON.stringify(depth)}.`);
    if (request.depth !== undefined && action !== "reorg")
      throw new FaultInvalidError(`depth is for reorg only. Leave it out for ${action}.`);
    const fault: Fault = { point, action, match: { ...match }, remaining: count, hits: 0, depth };
    this.#faults.push(fault);
    return structuredClone(fault);
  }

  /** The faults as they are now, used-up ones included. */
  list(): Fault[] {
    return structuredClone(this.#faults);
  }

  /** Clears all faults. @returns how the node must mine again, if a fault paused it. */
  clear(): MiningMode | null {
    const mining = this.#mining;
    this.#faults = [];
    this.#mining = null;
    return mining;
  }

  /** Keeps how the node mined before the first pause. */
  rememberMining(mode: MiningMode): void {
    this.#mining ??= mode;
  }

  /** Everything, for a snapshot. */
  snapshot(): FaultState {
    return structuredClone({ faults: this.#faults, mining: this.#mining });
  }

  /** Puts back what `snapshot` gave. */
  restore(state: FaultState): void {
    const { faults, mining } = structuredClone(state);
    this.#faults = faults;
    this.#mining = mining;
  }

  /** Counts one hit of the first live fault with this action, if there is one. */
  take(point: FaultPoint, action: FaultAction, subject: FaultSubject): Fault | null {
    for (const fault of this.#faults) {
      if (fault.point !== point || fault.action !== action || fault.remaining === 0) continue;
      if (!matches(fault.match, subject)) continue;
      fault.hits += 1;
      if (fault.remaining !== null) fault.remaining -= 1;
      return structuredClone(fault);
    }
    return null;
  }
}

function requirePlacement({ point, action }: FaultRequest): void {
  requireOneOf("action", action, faultActions);
  requireOneOf("point", point, faultPoints);
  const points: readonly FaultPoint[] = faultPlacements[action];
  if (!points.includes(point))
    throw new FaultInvalidError(`${action} does not act at "${point}", but at ${points.join(", ")}.`);
}

/** Refuses what no operation has: JavaScript, and values that were cast, are not checked by a compiler. */
function requireMatch(match: FaultMatch, programs: readonly string[]): void {
  for (const field of Object.keys(match)) requireOneOf("field of match", field, matchFields);
  const { kind, program } = match;
  if (kind !== undefined) requireOneOf("kind", kind, relayOperationKinds);
  if (program !== undefined && !programs.includes(program))
    throw new FaultInvalidError(`No program ${program} here. Use ${programs.join(", ")}.`);
}

function requireOneOf(what: string, value: string, known: readonly string[]): void {
  if (known.includes(value)) return;
  throw new FaultInvalidError(`There is no ${what} ${JSON.stringify(value)}. Use ${known.join(", ")}.`);
}

function matches(match: FaultMatch, subject: FaultSubject): boolean {
  return (
    (match.operation_id ?? subject.operation_id) === subject.operation_id &&
    (match.program ?? subject.program) === subject.program &&
    (match.kind ?? subject.kind) === subject.kind &&
    (match.subject_id ?? subject.subject.id) === subject.subject.id
  );
}
