/** Leasing a sandbox that waits in a pool, over HTTP. */

import { ownPages } from "../../sandbox/lib/http/host-and-origin.ts";
import { listen } from "../../sandbox/lib/http/listen.ts";
import { createPoolHost } from "../../testkit/pool/served/pool-host.ts";
import { poolLimits } from "../../testkit/pool/served/pool-limits.ts";
import { ServedPool } from "../../testkit/pool/served/served-pool.ts";
import { type Benchmark, elapsed } from "./benchmark.ts";

const listener = await listen({ port: 0, option: "port", pages: ownPages });
const { leaseSeconds, waitMs } = poolLimits;
const failed = (error: unknown) => console.error(error);
const pool = new ServedPool({ size: 2, leaseSeconds, waitMs, sandbox: { seed: "bench" }, failed });
listener.serve({ handle: createPoolHost(pool, listener.url) });

/** The benchmark `lease`. */
export const benchmark: Benchmark = {
  title: "Leasing a sandbox that waits in a pool, over HTTP",
  baseline: "GET / of the pool",
  rounds: 50,
  subjects: {
    "GET / of the pool": async () => await elapsed(async () => await (await fetch(listener.url)).json()),
    "lease of a waiting sandbox": async () => {
      await pool.ready();
      let id = "";
      const milliseconds = await elapsed(async () => {
        const response = await fetch(`${listener.url}/leases`, { method: "POST" });
        id = JSON.parse(await response.text()).id;
      });
      await fetch(`${listener.url}/leases/${id}`, { method: "DELETE" });
      return milliseconds;
    },
  },
  bars: { "lease of a waiting sandbox": { noMoreThan: 50 } },
  close: async () => {
    await Promise.all([listener.close(), pool.close()]);
  },
};
