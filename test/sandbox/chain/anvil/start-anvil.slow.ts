import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";

test("an Anvil ends at once when it is stopped as soon as it has started", async () => {
  const guard = fileURLToPath(new URL("../../../../sandbox/chain/anvil/guard.sh", import.meta.url));
  // A guard whose watcher had not begun yet waited for it until its parent ended: 6 of 100.
  for (let stopped = 0; stopped < 100; stopped += 1) {
    const guarded = spawn(guard, ["sleep", "60"], { stdio: ["pipe", "pipe", "ignore"] });
    onTestFinished(() => void guarded.kill("SIGKILL"));
    await once(guarded.stdout, "data");
    guarded.kill("SIGTERM");
    expect(await once(guarded, "exit")).toEqual([0, null]);
  }
});
