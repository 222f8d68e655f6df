import { z } from "zod";
import { askControl } from "../../sandbox/service/ask-control.ts";
import { type Finding, healthy } from "./finding.ts";

const pool = z.looseObject({ pid: z.int(), size: z.int(), free: z.int(), leased: z.int() });

/** Says whether a pool runs. A sandbox starts in either case. */
export async function examinePool(port: number): Promise<Finding> {
  const url = `http://127.0.0.1:${port}`;
  const response = await askControl(url, "GET", "/").catch(() => null);
  const { data } = pool.safeParse(await response?.json().catch(() => null));
  if (data === undefined) return healthy("pool", `No pool runs at ${url}.`);
  const { pid, size, free, leased } = data;
  return healthy(
    "pool",
    `Process ${pid} runs a pool of ${size} sandboxes at ${url}: ${free} free, ${leased} leased. To stop it: routing-sandbox stop --pool ${url}`,
  );
}
