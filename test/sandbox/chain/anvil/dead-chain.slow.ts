import { setImmediate } from "node:timers/promises";
import { expect, onTestFinished, test, vi } from "vitest";
import { createSandbox } from "../../../../sandbox/create-sandbox.ts";
import { processesWith } from "../../../kit/left-processes.ts";
import { temporaryFolder } from "../../../temporary-folder.ts";

test("a sandbox that is closed while its Anvil is replaced leaves no process", async () => {
  const dataDirectory = await temporaryFolder();
  vi.stubEnv("LEFT_BY", dataDirectory);
  onTestFinished(() => {
    vi.unstubAllEnvs();
  });
  // Each time, the replacement has come a step further.
  for (let steps = 0; steps < 12; steps += 1) {
    const sandbox = await createSandbox({ dataDirectory });
    const { anvil } = sandbox.chain;
    process.kill(anvil.pid, "SIGKILL");
    if (steps > 0) await anvil.ended;
    for (let step = 1; step < steps; step += 1) await setImmediate();
    await sandbox.close();
    expect(await processesWith("LEFT_BY", dataDirectory), `after ${steps} steps`).toEqual([]);
  }
});
