/** Sends requests from many clients at once, each one after the other: `node clients-load.ts <options as JSON>`. Prints rate and latency. */
import { Agent, request as requestHttp } from "node:http";
import { z } from "zod";

const { url, method, headers, body, key, clients, seconds } = z
  .object({
    url: z.url(),
    method: z.enum(["GET", "POST"]),
    headers: z.record(z.string(), z.string()),
    body: z.string(),
    /** The beginning of the Idempotency-Keys; empty for requests without. */
    key: z.string(),
    clients: z.int(),
    seconds: z.number(),
  })
  .parse(JSON.parse(process.argv[2] ?? ""));

/** The measurements that `clients.ts` reads. */
export interface LoadMeasurement {
  /** Successful requests per second. */
  rate: number;
  /** The time within which 99 % of them were answered, in milliseconds. */
  slow: number;
}

const agent = new Agent({ keepAlive: true, maxSockets: clients });
let sent = 0;

function headersNow(): Record<string, string | number> {
  sent += 1;
  return {
    ...headers,
    ...(method === "POST" && {
      "Content-Type": "application/json",
      "Content-Length": Buffer.byteLength(body),
    }),
    ...(key !== "" && { "Idempotency-Key": `${key}-${sent}` }),
  };
}

async function send(): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const request = requestHttp(url, { agent, method, headers: headersNow() });
  request.once("error", reject).once("response", (response) => {
    const { statusCode = 0 } = response;
    response.resume().once("end", () => {
      if (statusCode < 300) resolve();
      else reject(new Error(`${method} ${url} was answered with ${statusCode}.`));
    });
  });
  request.end(body);
  await promise;
}

async function measureUntil(end: number): Promise<number[]> {
  const times: number[] = [];
  const lane = async () => {
    for (let began = performance.now(); began < end; began = performance.now()) {
      await send();
      times.push(performance.now() - began);
    }
  };
  await Promise.all(Array.from({ length: clients }, lane));
  return times.toSorted((a, b) => a - b);
}

// Connections are opened, and the code is compiled, before the measurement.
await measureUntil(performance.now() + 500);
const began = performance.now();
const times = await measureUntil(began + seconds * 1_000);
const rate = (times.length * 1_000) / (performance.now() - began);
const measured: LoadMeasurement = { rate, slow: times[Math.ceil(times.length * 0.99) - 1] ?? Number.NaN };
process.stdout.write(JSON.stringify(measured));
agent.destroy();
