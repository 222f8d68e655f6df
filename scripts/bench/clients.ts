/** Reads and creations of purchases by 1 to 128 clients at once, compared with a bare Express with as many clients. */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { demoSteps } from "../../testkit/demo/show-purchase.ts";
import type { Benchmark, Unit } from "./benchmark.ts";
import type { LoadMeasurement } from "./clients-load.ts";
import { clientsCurve, pointOf } from "./curve.ts";
import { purchaseCreation } from "./purchase-creation.ts";
import { serveExpress, serveSandbox } from "./serve.ts";

const seconds = 2;
const opened = new AsyncDisposableStack();
const { description } = opened.use(await serveSandbox());
const { session, merchant, path: purchases, body } = await purchaseCreation(description);
const { id } = await demoSteps.createPurchase(session, merchant, "purchase", "25000000");

const { api } = description.urls;
const headers = { Authorization: `Bearer ${session.credential}` };
const read = { path: `${purchases}/${id}`, method: "GET", body: "", withKey: false } as const;
const creation = { path: purchases, method: "POST", body, withKey: true } as const;
const sameBytes = opened.use(await serveExpress("bytes", { url: `${api}${read.path}`, headers })).url;
const signing = opened.use(await serveExpress("signAndSync", {})).url;

const load = fileURLToPath(new URL("clients-load.ts", import.meta.url));
let runs = 0;

async function send(host: string, asked: typeof read | typeof creation, clients: number) {
  const { path, withKey, ...request } = asked;
  runs += 1;
  const key = withKey ? `bench-clients-${runs}` : "";
  const options = JSON.stringify({ ...request, url: `${host}${path}`, headers, key, clients, seconds });
  const { stdout } = await promisify(execFile)(process.execPath, [load, options]);
  const measured: LoadMeasurement = JSON.parse(stdout);
  return measured;
}

/** Two subjects of one measurement: the rate, and the latency that was measured with it. */
function pair(
  names: { rate: string; slow: string },
  run: () => Promise<LoadMeasurement>,
): Benchmark["subjects"] {
  let last = Number.NaN;
  return {
    [names.rate]: async () => {
      const { rate, slow } = await run();
      last = slow;
      return rate;
    },
    [names.slow]: async () => last,
  };
}

let subjects: Benchmark["subjects"] = {};
const comparedTo: Record<string, string> = {};
const units: Record<string, Unit> = {};
for (const clients of clientsCurve.sizes)
  for (const [name, slowName, asked, express] of [
    ["reads", "slow reads", read, sameBytes],
    ["creations", "slow creations", creation, signing],
  ] as const) {
    const [rate, slow] = [pointOf(name, clients), pointOf(slowName, clients)];
    const floor = { rate: `Express, ${rate}`, slow: `Express, ${slow}` };
    subjects = {
      ...subjects,
      ...pair(floor, async () => await send(express, asked, clients)),
      ...pair({ rate, slow }, async () => await send(api, asked, clients)),
    };
    Object.assign(comparedTo, {
      [floor.rate]: floor.rate,
      [floor.slow]: floor.slow,
      [rate]: floor.rate,
      [slow]: floor.slow,
    });
    Object.assign(units, { [floor.slow]: "ms", [slow]: "ms" });
  }

/** The benchmark `clients`. */
export const benchmark: Benchmark = {
  title: `Requests per second of clients that each send one request after the other, for ${seconds} s, store on disk`,
  baseline: Object.keys(subjects)[0] ?? "",
  unit: "per second",
  units,
  rounds: 3,
  subjects,
  comparedTo,
  close: async () => await opened.disposeAsync(),
};
