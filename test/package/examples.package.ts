import { cp, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
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
  // Their own limit of a test is five seconds, and the first one starts a sandbox.
  ["vitest -- --testTimeout=60000", /Tests +4 passed \(4\)/],
  ["jest -- --testTimeout=60000", /Tests: +3 passed, 3 total/],
  ["mocha", /3 passing/],
  ["node-test", /pass 3\n(?:.*\n)*.*fail 0/],
] as const)("the example for %s passes", async ([runner, passed]) => {
  // Jest reports on standard error.
  expect(await run("sh", ["-c", `npm test --workspace ${runner} 2>&1`], npm)).toMatch(passed);
});

const failing = (imports: string, after: string) => `${imports}
import { sandboxFixture } from "routing-sandbox/fixture";
const fixture = sandboxFixture({ seed: "failing" });
beforeEach(fixture.begin);
afterEach(fixture.end);
${after}(fixture.close);
describe("a purchase", () => {
  it("is refunded", async () => {
    const { purchase } = await fixture.sandbox.given.purchase({ state: "active" });
    if (purchase.status !== "refunded") throw new Error("the purchase is " + purchase.status);
  });
  it("is active", async () => {
    await fixture.sandbox.given.purchase({ state: "active" });
  });
});
`;

test.for([
  ["jest", "NODE_OPTIONS=--experimental-vm-modules npx jest failing.test.js", failing("", "afterAll")],
  ["mocha", "npx mocha failing.test.js", failing("", "after")],
  [
    "node-test",
    "node --test failing.test.js",
    failing('import { after, afterEach, beforeEach, describe, it } from "node:test";', "after"),
  ],
] as const)(
  "a failed test of %s leaves a trace, and one that passes leaves none",
  async ([runner, command, source]) => {
    const cwd = join(npm.cwd, runner);
    await writeFile(join(cwd, "failing.test.js"), source);
    await expect(run("sh", ["-c", command], { ...npm, cwd })).rejects.toThrow("the purchase is active");
    expect((await readdir(join(cwd, "traces"))).sort()).toEqual([
      "failing-a-purchase-is-refunded.snapshot",
      "failing-a-purchase-is-refunded.trace.html",
    ]);
    const page = await readFile(join(cwd, "traces", "failing-a-purchase-is-refunded.trace.html"), "utf8");
    expect(page).toContain("the purchase is active");
    expect(page).toContain("failing.test.js:10:");
  },
);

test("a fixture of jest begins while its config fakes the timers of every file", async () => {
  const cwd = join(npm.cwd, "jest");
  const source = failing("", "afterAll").replace('refunded") throw', 'active") throw');
  await writeFile(join(cwd, "faked.test.js"), source);
  const config = {
    testEnvironment: "routing-sandbox/jest-environment",
    transform: {},
    fakeTimers: { enableGlobally: true },
  };
  const command = `npx jest faked.test.js --testTimeout=60000 --config '${JSON.stringify(config)}' 2>&1`;
  const env = { ...npm.env, NODE_OPTIONS: "--experimental-vm-modules" };
  expect(await run("sh", ["-c", command], { cwd, env })).toMatch(/Tests: +2 passed, 2 total/);
});

test("a forgotten await fails its test in jest, also after a test that has left a rejection behind", async () => {
  const cwd = join(npm.cwd, "jest");
  const source = `import { sandboxFixture } from "routing-sandbox/fixture";
const fixture = sandboxFixture({ trace: "never" });
beforeEach(fixture.begin);
afterEach(fixture.end);
afterAll(fixture.close);
test("leaves a rejection", async () => void Promise.reject(new Error("own")));
test("forgets", async () => void fixture.sandbox.given.purchase({ state: "paid" }));
`;
  await writeFile(join(cwd, "left.test.js"), source);
  const command = "NODE_OPTIONS=--experimental-vm-modules npx jest left.test.js --testTimeout=60000";
  const failed = run("sh", ["-c", command], { ...npm, cwd });
  await expect(failed).rejects.toThrow("given.purchase()");
  await expect(failed).rejects.toThrow(/Tests: +2 failed, 2 total/);
});
