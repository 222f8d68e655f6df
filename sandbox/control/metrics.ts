import { readFile } from "node:fs/promises";
import { z } from "zod";
import { type ControlledSandbox, defineControl } from "./operation.ts";

/** More undelivered events than these are not counted. */
const mostCounted = 10_000;

const readMetrics = defineControl({
  id: "readMetrics",
  method: "get",
  path: "/metrics",
  tag: "Sandbox",
  summary:
    "Returns counts of requests, relay operations and deliveries, and the memory, as text for Prometheus.",
  description: "It does not wait for snapshots. A restore does not reset the counters.",
  page: { target: "control.md#metrics", words: "metrics" },
  success: {
    status: 200,
    description: "The metrics, in the Prometheus text format.",
    schema: z.string(),
    type: "text/plain",
  },
  recorded: false,
  cached: false,
  async handle({ sandbox, response }) {
    const text = await renderMetrics(sandbox);
    response.type("text/plain; version=0.0.4; charset=utf-8").send(text);
  },
});

/** The operation that Prometheus reads. */
export const metricsOperations = [readMetrics];

async function renderMetrics({ metrics, explorer, chain }: ControlledSandbox): Promise<string> {
  const { services, requests } = explorer.sources;
  const undelivered = await services.store.list(
    "events",
    { delivery: "undelivered" },
    { limit: mostCounted },
  );
  const { rss, heapUsed } = process.memoryUsage();
  return metrics.render({
    inProgress: requests.inProgress().length,
    undelivered: undelivered.length,
    memory: { resident: rss, heap: heapUsed, anvil: await residentMemory(chain.anvil.pid) },
  });
}

/** Returns the resident memory of a process in bytes; null where the system has no /proc. */
async function residentMemory(pid: number): Promise<number | null> {
  const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
  const kibibytes = /^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1];
  return kibibytes === undefined ? null : Number(kibibytes) * 1_024;
}
