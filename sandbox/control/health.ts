import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { z } from "zod";
import { CodedError } from "../../protocol/coded-error.ts";
import { URL } from "../../protocol/globals.ts";
import { ChainMismatchError } from "../../server/chain/chain-reader.ts";
import { readDeployedIdentity } from "../../server/chain/deployed-node.ts";
import { ifAvailable, type Store, StoreUnavailableError } from "../../server/store/store.ts";
import { controlOf } from "../lib/control/operation.ts";
import { connectDirect } from "../lib/http/direct/connect-direct.ts";
import { abortAfter, endsWithin } from "../lib/time/timers.ts";
import type { ControlledSandbox } from "./controlled-sandbox.ts";

const defineControl = controlOf<ControlledSandbox>();

/** More undelivered events than these are not counted. */
const mostCounted = 10_000;

const readMetrics = defineControl({
  id: "readMetrics",
  method: "get",
  path: "/metrics",
  tag: "Sandbox",
  summary: "Returns counters and memory as text for Prometheus.",
  description: "Does not wait for snapshots. A restore does not reset the counters.",
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
  const undelivered = await ifAvailable(
    services.store.list("events", { delivery: "undelivered" }, { limit: mostCounted }),
  );
  const { rss, heapUsed } = process.memoryUsage();
  return metrics.render({
    inProgress: requests.inProgress().length,
    undelivered: undelivered?.length ?? null,
    memory: {
      resident: rss,
      heap: heapUsed,
      anvil: chain.isOwn ? await residentMemory(chain.anvil.pid) : null,
    },
  });
}

/** Returns the resident memory of a process in bytes; null where the system has no /proc. */
async function residentMemory(pid: number): Promise<number | null> {
  const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
  const kibibytes = /^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1];
  return kibibytes === undefined ? null : Number(kibibytes) * 1_024;
}

/** The longest time that one part may take to answer, in milliseconds. */
const answerTimeoutMs = 2_000;

/** Thrown when a part of the sandbox does not answer. */
class UnhealthyError extends CodedError {
  override readonly name = "UnhealthyError";
}

const readHealth = defineControl({
  id: "readHealth",
  method: "get",
  path: "/health",
  tag: "Sandbox",
  summary:
    "Returns 200 if the API, the store, the relayer and the node respond, and otherwise `503 unhealthy` with those that do not.",
  description:
    "The node is `anvil`, or `node` if it is not the sandbox's own. Does not wait for snapshots, is not recorded, and does not change the ids of later requests. It writes nothing, so a full disk shows only in the next write.",
  page: { target: "ci.md#cleanup", words: "a sandbox in the background" },
  success: {
    status: 200,
    description: "All parts respond.",
    schema: z
      .object({
        status: z.literal("ok"),
        parts: z.array(z.enum(["api", "store", "relayer", "anvil", "node"])),
      })
      .meta({ id: "Health" }),
  },
  errors: ["unhealthy"],
  recorded: false,
  cached: false,
  handle: async ({ sandbox }) => await examine(sandbox),
});

/** The operation that says whether the sandbox works. */
export const healthOperations = [readHealth];

/** Returns the remedies for parts that do not respond; the others end only with the sandbox. */
function remediesOf({ isBroken }: Store): ReadonlyMap<string, string> {
  const store =
    isBroken === undefined ? "that its database runs" : "that files can be written in its data directory";
  return new Map([
    ["store", `Check ${store}, and send the request again.`],
    ["node", "Check that it runs, and send the request again."],
  ]);
}

/** Asks each part of a sandbox. @throws UnhealthyError */
async function examine({ description, chain, relayer, services }: ControlledSandbox) {
  const program = description.accounts[0].program;
  const asked = {
    api: askPort(description.urls.api),
    store: readStore(services.store),
    relayer: relayer.budget(program),
    ...(chain.isOwn
      ? { anvil: chain.request({ method: "eth_blockNumber" }) }
      : { node: readDeployedIdentity(chain) }),
  };
  const silent = Object.entries(asked).map(async ([part, answer]) => {
    const answers = answer.then(
      () => true,
      (error: unknown) => {
        if (error instanceof ChainMismatchError) throw new UnhealthyError("unhealthy", error.message);
        return false;
      },
    );
    return (await endsWithin(answers, answerTimeoutMs)) && (await answers) ? [] : [part];
  });
  const parts = (await Promise.all(silent)).flat();
  // The relayer reads its journal in the store, and cannot respond without it.
  const causes = parts.includes("store") ? parts.filter((part) => part !== "relayer") : parts;
  if (causes.length > 0) {
    const remedies = remediesOf(services.store);
    const remedy = causes.map((part) => remedies.get(part)).find((text) => text !== undefined);
    throw new UnhealthyError(
      "unhealthy",
      `No response from ${causes.join(" and ")}. ${remedy ?? "Send the request again; if that fails too, start the sandbox again."}`,
    );
  }
  return { status: "ok", parts: Object.keys(asked) };
}

/** Reads a record that need not be there: only a store that cannot be reached refuses. */
async function readStore(store: Store): Promise<void> {
  await store.get("credentials", "");
  if (store.isBroken === true) throw new StoreUnavailableError("The files of the store cannot be written.");
}

/** Resolves when a port accepts a connection. A request would take a request id and could be recorded. */
async function askPort(url: string): Promise<void> {
  const { hostname, port } = new URL(url);
  const socket = connectDirect({ port: Number(port), host: hostname.replaceAll(/[[\]]/g, "") });
  try {
    await once(socket, "connect", { signal: abortAfter(answerTimeoutMs) });
  } finally {
    socket.destroy();
  }
}
