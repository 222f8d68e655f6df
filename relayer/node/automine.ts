import { z } from "zod";
import { askNode, countMinable, type Node } from "./node.ts";

/** The largest number of checks of the pool; a transaction that cannot be mined stays in it forever. */
const looks = 10_000;

/**
 * Waits while a node that mines at once makes its block: Anvil answers the sender of a transaction before that, and has no receipt of it
 * until its pool has let go of it.
 *
 * @returns whether the node had mined everything when this looked last; false at once when it mines later or is asked in vain.
 */
export async function awaitAutomine(node: Node): Promise<boolean> {
  for (let look = 0; look < looks; look += 1) {
    const [automine, pending] = await Promise.all([isAutomining(node), countMinable(node)]).catch(() => []);
    if (automine !== true || pending === undefined) return false;
    if (pending === 0) return true;
  }
  return false;
}

/**
 * Has a node mine each transaction at once, and returns when those that waited are mined. Anvil answers `evm_setAutomine` before it
 * mines them, and leaves those for which its block has no gas.
 */
export async function startAutomine(node: Node): Promise<void> {
  if (!(await isAutomining(node))) {
    let waiting = await countMinable(node);
    while (waiting > 0) {
      await askNode(node, "evm_mine", [], z.unknown());
      const left = await countMinable(node);
      if (left >= waiting) break;
      waiting = left;
    }
    await askNode(node, "evm_setAutomine", [true], z.unknown());
  }
  await awaitAutomine(node);
}

/** Returns whether a node mines each transaction at once. */
export async function isAutomining(node: Node): Promise<boolean> {
  return await askNode(node, "anvil_getAutomine", [], z.boolean());
}
