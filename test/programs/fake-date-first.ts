/** Fakes the date before the package is loaded, and prints by how many seconds a live sandbox is away from the time of a file that is written now. */
import { mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { mock } from "node:test";

mock.timers.enable({ apis: ["Date"], now: 0 });
const { createSandbox } = await import("../../testkit/index.ts");
await using sandbox = await createSandbox({ mode: "live" });
await sandbox.given.purchase({ state: "claimed" });
const folder = await mkdtemp(join(tmpdir(), "fake-date-first-"));
const file = join(folder, "now");
await writeFile(file, "");
console.log(
  Math.abs((await sandbox.clock.now()) - (await stat(file)).mtimeMs / 1_000) < 60 ? "near" : "away",
);
await rm(folder, { recursive: true });
