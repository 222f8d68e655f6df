import { type Head, type Node, readBlockHash } from "../node/node.ts";

/** The number of blocks below the newest one that may still leave the chain without being seen, as after a restart. */
export const deepestReorg = 128;

/** The heads that were looked at: how far down the chain is still the one that was seen. */
export class HeadTrail {
  #seen: Pick<Head, "number" | "hash">[] = [];

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

  /** Everything up to this head has been looked at. */
  add({ number, hash }: Head): void {
    if (this.#seen.at(-1)?.hash === hash) return;
    this.#seen.push({ number, hash });
    if (this.#seen.length > deepestReorg) this.#seen.shift();
  }
}
