import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { z } from "zod";

/** The request that is repeated. */
export interface Target {
  url: string;
  headers?: { [name: string]: string };
}

const autocannon = fileURLToPath(import.meta.resolve("autocannon"));
const connections = 10;
const seconds = 2;

const result = z.object({
  duration: z.number(),
  "2xx": z.int(),
  non2xx: z.int(),
  errors: z.int(),
  timeouts: z.int(),
});

/**
 * Requests per second that a target answers, by autocannon in a process of its own: ten connections, each with one request at a
 * time.
 *
 * @throws Error when an answer is not a success.
 */
export async function requestsPerSecond({ url, headers = {} }: Target): Promise<number> {
  const given = Object.entries(headers).flatMap(([name, value]) => ["--headers", `${name}=${value}`]);
  const load = ["--connections", String(connections), "--duration", String(seconds), "--pipelining", "1"];
  const { stdout } = await promisify(execFile)(process.execPath, [
    autocannon,
    "--json",
    "--no-progress",
    ...load,
    ...given,
    url,
  ]);
  const measured = result.parse(JSON.parse(stdout));
  const failures = measured.non2xx + measured.errors + measured.timeouts;
  if (failures > 0) throw new Error(`${failures} requests to ${url} were not answered with a success.`);
  return measured["2xx"] / measured.duration;
}
