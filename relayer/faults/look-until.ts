import type { RelayerContext } from "../context.ts";

/** The largest number of checks, a millisecond of `wait` apart. */
const looks = 1_000;

/**
 * Looks until it is so.
 *
 * @returns false when it was not, however often this looked.
 * @example if (!(await lookUntil(isMined, context))) throw new RpcUnavailableError("The transaction", new Error("it was not mined"));
 */
export async function lookUntil(
  isSo: () => Promise<boolean>,
  { wait }: Pick<RelayerContext, "wait">,
): Promise<boolean> {
  for (let look = 0; look < looks; look += 1) {
    if (await isSo()) return true;
    await wait(1);
  }
  return false;
}
