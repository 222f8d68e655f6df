import { z } from "zod";
import { fetchDirect } from "../../sandbox/lib/http/direct/fetch-direct.ts";
import { examinePort } from "./examine.ts";
import { type Finding, healthy } from "./finding.ts";

const pool = z.looseObject({ pid: z.int(), size: z.int(), free: z.int(), leased: z.int() });

/** The longest time to wait for the response of a pool, in milliseconds. */
const longestMs = 1_000;

/** Says whether a pool runs. Without one, its port must be free. Port 0 is any free port, so no pool can be found there. */
export async function examinePool(port: number): Promise<Finding> {
  if (port === 0) return healthy("pool", "Not looked for: --port 0 names no port.");
  const url = `http://127.0.0.1:${port}`;
  const response = await fetchDirect(url, { signal: AbortSignal.timeout(longestMs) }).catch(() => null);
  const { data } = pool.safeParse(await response?.json().catch(() => null));
  if (data === undefined) {
    const listener = await examinePort("--port", port, null);
    return listener.ok ? healthy("pool", `No pool runs at ${url}.`) : listener;
  }
  const { pid, size, free, leased } = data;
  return healthy(
    "pool",
    `Process ${pid} runs a pool of ${size} sandboxes at ${url}: ${free} free, ${leased} leased. To stop it: routing-sandbox stop --pool ${url}`,
  );
}
