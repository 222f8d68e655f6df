/** From the command to the moment when everything answers: `npm start` compared with a bare Anvil and `hardhat node`. */
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { anvilBinary } from "../../sandbox/chain/anvil/anvil-binary.ts";
import { packageRoot } from "../../sandbox/lib/package-root.ts";
import type { Benchmark } from "./benchmark.ts";
import { startGroup, untilHardhatAnswers, untilRpcAnswers } from "./process-group.ts";

const description = z.object({ urls: z.record(z.string(), z.string()) });

/** The benchmark `start`. */
export const benchmark: Benchmark = {
  title: "From the command to the first answer of everything that it starts",
  baseline: "bare Anvil",
  rounds: 7,
  subjects: {
    "bare Anvil": () => untilRpcAnswers(anvilBinary(), ["--port", "0"], /Listening on (\S+)/),
    "hardhat node": untilHardhatAnswers,
    "npm start": untilSandboxAnswers,
  },
  comparedTo: { "npm start": "hardhat node" },
  bars: { "npm start": { atMost: 0.7 } },
};

async function untilSandboxAnswers(): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), "routing-sandbox-bench-"));
  try {
    const started = performance.now();
    await using group = startGroup("npm", ["start", "--prefix", packageRoot(), "--", "--data-dir", folder]);
    await group.until(async () => {
      const { urls } = description.parse(JSON.parse(await readFile(join(folder, "sandbox.json"), "utf8")));
      await Promise.all(Object.values(urls).map((url) => fetch(url)));
    });
    return performance.now() - started;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
