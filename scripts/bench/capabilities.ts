/** Requests per second of the capabilities, compared with a bare Express that answers the same bytes, and with Prism's mock. */
import type { Benchmark } from "./benchmark.ts";
import { requestsPerSecond } from "./load.ts";
import { serveExpress, servePrism, serveSandbox } from "./serve.ts";

const path = "/v1/routing/capabilities";
const opened = new AsyncDisposableStack();
const live = opened.use(await serveSandbox()).description.urls.api;
const deterministic = opened.use(await serveSandbox("--mode", "deterministic")).description.urls.api;
const express = opened.use(await serveExpress("bytes", { url: `${live}${path}`, headers: {} })).url;
const prism = opened.use(await servePrism()).url;

/** The benchmark `capabilities`. */
export const benchmark: Benchmark = {
  title: "Requests per second of GET /v1/routing/capabilities, ten connections",
  baseline: "bare Express, the same bytes",
  unit: "per second",
  rounds: 5,
  subjects: {
    "bare Express, the same bytes": async () => await requestsPerSecond({ url: `${express}${path}` }),
    "capabilities, live": async () => await requestsPerSecond({ url: `${live}${path}` }),
    "capabilities, deterministic": async () => await requestsPerSecond({ url: `${deterministic}${path}` }),
    "Prism's mock of capabilities": async () => await requestsPerSecond({ url: `${prism}${path}` }),
  },
  bars: { "capabilities, live": { atLeast: 0.8 } },
  close: async () => await opened.disposeAsync(),
};
