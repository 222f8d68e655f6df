import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { programFile } from "../../program-file.ts";
import { temporaryFolder } from "../../temporary-folder.ts";

const vitest = fileURLToPath(new URL("../../../node_modules/vitest/vitest.mjs", import.meta.url));
const exports = JSON.stringify(programFile("package-exports"));

const traces = ["always", "on-failure", "never"] as const;

/** Runs Node in a folder, and returns the exit code with what was printed. */
async function runNode(folder: string, ...args: string[]): Promise<{ code: number; output: string }> {
  const env = { ...process.env, NO_COLOR: "1", NODE_TEST_CONTEXT: undefined, VITEST: undefined };
  const child = spawn(process.execPath, args, { cwd: folder, env, stdio: ["ignore", "pipe", "pipe"] });
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, "close"),
  ]);
  return { code, output: stdout + stderr };
}

/** The errors of tests that the runner alone knows of: the code that throws them, by their names. */
const unhandled = {
  "a rejection": (name: string) => `void Promise.reject(new Error("${name}"));`,
  "an error in a timer": (name: string) => `setTimeout(() => { throw new Error("${name}"); }, 1);`,
};

/** Tests that pass, each with an error that no code handles while it runs. */
const unhandledTests = traces.flatMap((trace) =>
  Object.entries(unhandled).map(([kind, code]) => {
    const name = `${kind}, trace ${trace}`;
    return { trace, name, code: code(name) };
  }),
);

test("vitest reports an unhandled error of a test as without the fixture, and the sandbox works, in all pools", async () => {
  const folder = await temporaryFolder();
  const pools = ["forks", "threads", "vmForks", "vmThreads"];
  await writeFile(
    join(folder, "vitest.config.mjs"),
    `const projects = ${JSON.stringify(pools)}.map((pool) => ({
      test: { name: pool, pool, include: ["*.suite.mjs"], server: { deps: { external: [/\\.bundle/] } }, testTimeout: 120_000 },
    }));
    export default { test: { projects, maxWorkers: 2 } };`,
  );
  await writeFile(
    join(folder, "verdict.suite.mjs"),
    `import { setTimeout as wait } from "node:timers/promises";
    import { sandboxTest } from ${exports};
    for (const { trace, name, code } of ${JSON.stringify(unhandledTests)})
      sandboxTest({ seed: "verdict", trace })(name, async ({ sandbox }) => {
        await sandbox.clock.now();
        new Function(code)();
        await wait(50);
      });`,
  );
  await writeFile(
    join(folder, "works.suite.mjs"),
    `import { expect } from "vitest";
    import { sandboxTest } from ${exports};
    const test = sandboxTest({ seed: "verdict" });
    test("a request is repeated until its outcome is known", async ({ sandbox: { given, faults, client } }) => {
      const match = { operation: "activatePurchase" };
      const { purchase } = await given.purchase({ state: "created" });
      for (const action of ["reset", "partial"])
        await faults.set({ layer: "api", point: "after_commit", action, match });
      expect((await client.retrying.activate(purchase)).status).toBe("active");
    });
    test("typed data is explained", async ({ sandbox }) => {
      const { purchase } = await sandbox.given.purchase({ state: "active" });
      expect((await sandbox.explain(purchase.commitment)).digest).toBe(purchase.commitment.hash);
    });
    test("a file that cannot be written is named with the reason", async ({ sandbox }) => {
      await expect(sandbox.save(process.execPath + "/x")).rejects.toThrow("a part of the path is a file");
    });
    test("events arrive with their bodies", async ({ sandbox }) => {
      await sandbox.given.merchant({ state: "pending" });
      await sandbox.deliverAll();
      expect((await sandbox.receiver.next()).body).toContain("merchant.created");
    });`,
  );
  const { code, output } = await runNode(folder, vitest, "run", "--root", folder);
  expect(code, output).toBe(1);
  expect(output).toMatch(new RegExp(`Tests +${pools.length * 10} passed`));
  expect(output).toMatch(new RegExp(`Errors +${pools.length * unhandledTests.length} errors`));
  for (const { name } of unhandledTests) expect(output.split(`Error: ${name}\n`), name).toHaveLength(5);
  const left = (await readdir(join(folder, "traces"))).filter((file) => file.endsWith(".html"));
  expect(left.sort()).toEqual(
    ["always", "on-failure"]
      .flatMap((trace) => ["a-rejection", "an-error-in-a-timer"].map((kind) => `${kind}-trace-${trace}`))
      .map((name) => `verdict-suite-${name}.trace.html`)
      .sort(),
  );
});

test("node:test fails each test with an unhandled error as without the fixture", async () => {
  const folder = await temporaryFolder();
  await writeFile(
    join(folder, "verdict.test.mjs"),
    `import { afterEach, beforeEach, after, describe, test } from "node:test";
    import { setTimeout as wait } from "node:timers/promises";
    import { sandboxFixture } from ${exports};
    for (const { trace, name, code } of ${JSON.stringify(unhandledTests)})
      describe(name, () => {
        const fixture = sandboxFixture({ seed: "verdict", trace });
        beforeEach(fixture.begin);
        afterEach(fixture.end);
        after(fixture.close);
        test("fails", async () => {
          new Function(code)();
          await wait(50);
        });
        test("is not awaited", () => void fixture.sandbox.given.purchase({ state: "created" }));
        test("passes", async () => void (await fixture.sandbox.clock.now()));
      });`,
  );
  const { code, output } = await runNode(folder, "--test", "--test-reporter=tap", "verdict.test.mjs");
  expect(code, output).toBe(1);
  expect(output).toContain(`# pass ${unhandledTests.length}\n# fail ${2 * unhandledTests.length}\n`);
  expect(output.split("The test ended without awaiting given.purchase().")).toHaveLength(
    1 + unhandledTests.length,
  );
});

test("a program without a test runner ends with an unhandled rejection as without the fixture", async () => {
  const folder = await temporaryFolder();
  await writeFile(
    join(folder, "program.mjs"),
    `import { setTimeout as wait } from "node:timers/promises";
    import { sandboxFixture } from ${exports};
    const fixture = sandboxFixture({ seed: "verdict" });
    await fixture.begin();
    void Promise.reject(new Error("this is not awaited"));
    await wait(60_000);`,
  );
  const { code, output } = await runNode(folder, "program.mjs");
  expect(code, output).toBe(1);
  expect(output).toContain("Error: this is not awaited");
});
