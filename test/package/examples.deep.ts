import { cp, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { installer, run } from "./run.ts";

const examples = fileURLToPath(new URL("../../examples", import.meta.url));
const runners = ["vitest", "jest", "mocha", "node-test"] as const;
const npm: { cwd: string; env: NodeJS.ProcessEnv } = { cwd: "", env: {} };

// One installation for all of them; each is a project of its own in it.
beforeAll(async () => {
  npm.cwd = await mkdtemp(join(tmpdir(), "routing-sandbox-examples-"));
  npm.env = { ...installer(inject("oldestNode"), npm.cwd), NO_COLOR: "1" };
  for (const runner of runners) await cp(join(examples, runner), join(npm.cwd, runner), { recursive: true });
  const dependencies = { "routing-sandbox": `file:${inject("tarball")}` };
  await writeFile(
    join(npm.cwd, "package.json"),
    JSON.stringify({ name: "examples", private: true, workspaces: runners, dependencies }),
  );
  await run("npm", ["install"], npm);
});

afterAll(async () => {
  await rm(npm.cwd, { recursive: true, force: true });
});

test.for([
  ["vitest", /Tests +4 passed \(4\)/],
  ["jest", /Tests: +3 passed, 3 total/],
  ["mocha", /3 passing/],
  ["node-test", /pass 3\n(?:.*\n)*.*fail 0/],
] as const)("the example for %s passes", async ([runner, passed]) => {
  // Jest reports on standard error.
  expect(await run("sh", ["-c", `npm test --workspace ${runner} 2>&1`], npm)).toMatch(passed);
});
