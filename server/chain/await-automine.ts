import type { EIP1193RequestFn } from "viem";
import { z } from "zod";

/** How often the pool is looked at; a transaction that cannot be mined stays in it for ever. */
const looks = 10_000;

const poolSchema = z.object({ pending: z.coerce.number() });

/**
 * Waits while a node that mines at once makes its block: Anvil answers the sender of a transaction before that, and has no receipt of it
 * until its pool has let go of it.
 *
 * @returns whether the node had mined everything when this looked last; false at once when it mines later or is asked in vain.
 */
export async function awaitAutomine(request: EIP1193RequestFn): Promise<boolean> {
  const ask = async (method: string): Promise<unknown> => await request({ method });
  for (let look = 0; look < looks; look += 1) {
    const [automine, pool] = await Promise.all([ask("anvil_getAutomine"), ask("txpool_status")]).catch(
      () => [],
    );
    const status = poolSchema.safeParse(pool);
    if (automine !== true || !status.success) return false;
    if (status.data.pending === 0) return true;
  }
  return false;
}
