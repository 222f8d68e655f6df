import { type Hex, numberToHex } from "viem";
import { SandboxError } from "../lib/errors/sandbox-error.ts";
import type { OneTimeSnapshot } from "./snapshot.ts";

/** The number of snapshots that wait for their revert at a time: the node keeps a copy of its state for each. */
export const mostRpcSnapshots = 1_000;

/**
 * The snapshots of the chain RPC: `evm_snapshot` and `evm_revert` as Hardhat and Anvil have them, of the whole sandbox. Ids count from 1; each is
 * used once, and a revert deletes those that were taken after it.
 */
export class RpcSnapshots {
  readonly #take: () => Promise<OneTimeSnapshot>;
  readonly #held = new Map<number, OneTimeSnapshot>();
  #taken = 0;

  /** @param take - takes a snapshot of the whole sandbox. */
  constructor(take: () => Promise<OneTimeSnapshot>) {
    this.#take = take;
  }

  /** Takes a snapshot and returns its id. @throws SandboxError snapshot_timeout, sandbox_shared, snapshot_refused when too many wait. */
  async take(): Promise<Hex> {
    if (this.#held.size >= mostRpcSnapshots) this.#forgetStale();
    if (this.#held.size >= mostRpcSnapshots)
      throw new SandboxError(
        "snapshot_refused",
        `${mostRpcSnapshots} snapshots wait for their revert. Revert to one of them with evm_revert, which also deletes the later ones.`,
      );
    const snapshot = await this.#take();
    this.#taken += 1;
    this.#held.set(this.#taken, snapshot);
    return numberToHex(this.#taken);
  }

  /** Restores a snapshot, and returns whether there was one. @throws SandboxError snapshot_timeout, sandbox_shared, part_failed */
  async revert(id: bigint): Promise<boolean> {
    const snapshot = this.#held.get(Number(id));
    if (snapshot === undefined) return false;
    const isReverted = await snapshot.restoreOnce();
    for (const held of this.#held.keys()) if (held >= Number(id)) this.#held.delete(held);
    return isReverted;
  }

  /** Returns the block of each snapshot that can still be restored, by its id, as the `snapshots` of `anvil_metadata`. */
  list(): { [id: Hex]: [number: number, hash: Hex] } {
    this.#forgetStale();
    return Object.fromEntries(
      [...this.#held].map(([id, { block }]) => [numberToHex(id), [Number(block.number), block.hash]]),
    );
  }

  /** Has the ids count as at the start of the state that has been restored for another test, lease or run. */
  reset(): void {
    this.#forgetStale();
    this.#taken = Math.max(0, ...this.#held.keys());
  }

  /** Forgets the snapshots that an earlier restore has made stale. */
  #forgetStale(): void {
    for (const [id, { isStale }] of this.#held) if (isStale()) this.#held.delete(id);
  }
}
