import type { Hex } from "viem";
import { z } from "zod";
import { askNode, type Node } from "../../../relayer/node/node.ts";
import { hexSchema } from "../../../relayer/node/node-schemas.ts";
import { isTouched, senderOf } from "./read-block.ts";

/** The pool as `txpool_content` answers it: by sender and nonce. */
const waitingSchema = z
  .record(z.string(), z.record(z.string(), z.object({ hash: hexSchema, from: hexSchema })))
  .transform((senders) => Object.values(senders).flatMap((nonces) => Object.values(nonces)));
const poolSchema = z
  .object({ pending: waitingSchema, queued: waitingSchema })
  .transform(({ pending, queued }) => [...pending, ...queued]);

/** Reads the transactions that wait in the pool. */
export async function readPool(node: Node): Promise<z.output<typeof poolSchema>> {
  return await askNode(node, "txpool_content", [], poolSchema);
}

/**
 * The senders of transactions that may be left out of a block, because a reorg has taken what would pay for them. The
 * node then has an empty account for the sender in the state of that block.
 */
export class UnpaidSenders {
  readonly #node: Node;
  readonly #senders = new Set<Hex>();
  /** The senders that are in the state although they hold nothing, and since which block. */
  readonly #touched = new Map<Hex, number>();

  constructor(node: Node) {
    this.#node = node;
  }

  /** Notes the sender of a transaction that a reorg puts into a block. */
  async note(transaction: unknown): Promise<void> {
    const sender = await senderOf(transaction);
    if (sender !== null) this.#senders.add(sender);
  }

  /** Notes the senders of what waits: a reorg leaves transactions in the pool. */
  async noteWaiting(): Promise<void> {
    for (const { from } of await readPool(this.#node)) this.#senders.add(from);
  }

  /** Returns those that are in the state with this block, and were not before. */
  async findTouched(number: number): Promise<Hex[]> {
    const touched: Hex[] = [];
    for (const account of this.#senders)
      if (!this.#touched.has(account) && (await isTouched(this.#node, account, number)))
        touched.push(account);
    for (const account of touched) this.#touched.set(account, number);
    return touched;
  }

  /** Forgets what the blocks above a number have touched. */
  rewind(number: number): void {
    for (const [account, since] of this.#touched) if (since > number) this.#touched.delete(account);
  }
}
