import type { Hex } from "viem";
import { type Head, type Node, readBlockHash } from "../node/node.ts";

/** The number of blocks below the newest one that may still leave the chain without being seen, as after a restart. */
export const deepestReorg = 128;

/** A head that was looked at. */
export type SeenHead = Pick<Head, "number" | "hash">;

/** The heads that were looked at: how far down the chain is still the one that was seen. */
export class HeadTrail {
  #seen: SeenHead[] = [];
  /** The chain epoch of the newest head; null until it is known. */
  #epoch: Hex | null = null;

  /** Returns the heads, the newest last. */
  capture(): readonly SeenHead[] {
    return [...this.#seen];
  }

  /** Replaces the heads: chain and journal were restored to the state of these, on the same node. */
  restore(heads: readonly SeenHead[]): void {
    this.#seen = [...heads];
  }

  /** The height up to which the chain is known to be as it was looked at. */
  async fork(node: Node, head: Head): Promise<number> {
    for (let last = this.#seen.at(-1); last !== undefined; last = this.#seen.at(-1)) {
      const continues =
        last.hash === head.hash ||
        last.hash === head.parentHash ||
        (await readBlockHash(node, last.number)) === last.hash;
      if (continues) return last.number;
      this.#seen.pop();
    }
    return head.number - deepestReorg;
  }

  /** Returns the chain epoch of a head that directly follows the newest one, which its parent hash proves; null for any other head. */
  epochBefore({ parentHash }: Head): Hex | null {
    return this.#seen.at(-1)?.hash === parentHash ? this.#epoch : null;
  }

  /** Everything up to this head has been looked at. A head at its height or above is not below it, so it leaves the trail. */
  add({ number, hash }: Head, epoch: Hex): void {
    this.#epoch = epoch;
    while ((this.#seen.at(-1)?.number ?? -1) >= number) this.#seen.pop();
    this.#seen.push({ number, hash });
    if (this.#seen.length > deepestReorg) this.#seen.shift();
  }
}
