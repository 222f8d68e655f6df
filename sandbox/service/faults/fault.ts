import type { FaultLayer } from "./fault-matrix.ts";

/** A fault that is set: plain data, so that it can be part of a snapshot. */
export interface Fault {
  layer: FaultLayer;
  point: string;
  action: string;
  match: { [field: string]: string };
  /** How often it will still act; null until it is cleared. */
  remaining: number | null;
  /** How often it has acted. */
  hits: number;
  /** The number of blocks that a `reorg` removes. */
  depth?: number;
  /** How long a `delay` takes, in real milliseconds. */
  delay_ms?: number;
  /** The status that the receiver answers. */
  status?: number;
  headers?: { [name: string]: string };
  body?: string;
}
