import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../../temporary-folder.ts";

const path = (name: string) => fileURLToPath(new URL(`../../../${name}`, import.meta.url));

const hooks = `
import { afterEach, beforeEach, after, describe, test } from "node:test";
import { sandboxFixture } from ${JSON.stringify(path("testkit/fixture.ts"))};
const fixture = sandboxFixture({ seed: "runner-traces" });
beforeEach(fixture.begin);
afterEach(fixture.end);
after(fixture.close);
`;

/** Starts a program of a folder, which ends with the test at the latest. */
function start(folder: string, args: readonly string[]): ChildProcess & { output: () => string } {
  const env = { ...process.env, NO_COLOR: "1", NODE_TEST_CONTEXT: undefined };
  const child = spawn(process.execPath, args, { cwd: folder, env });
  let output = "";
  const note = (chunk: Buffer) => {
    output += chunk.toString();
  };
  child.stdout.on("data", note);
  child.stderr.on("data", note);
  onTestFinished(() => {
    if (child.exitCode === null && child.signalCode === null) child.kill("SIGKILL");
  });
  return Object.assign(child, { output: () => output });
}

/** The text that the page of a trace has before its modules run, and the names of what else was left. */
async function left(folder: string): Promise<{ names: string[]; text: string }> {
  const names = (await readdir(join(folder, "traces"))).sort();
  const page = names.find((name) => name.endsWith(".html"));
  const html = page === undefined ? "" : await readFile(join(folder, "traces", page), "utf8");
  return { names, text: /<pre>([\s\S]*?)<\/pre>/.exec(html)?.[1]?.replaceAll("&#39;", "'") ?? "" };
}

test("a test of node:test that fails leaves a trace with its error and its line, and one that passes none", async () => {
  const folder = await temporaryFolder();
  await writeFile(
    join(folder, "checkout.test.mjs"),
    `${hooks}
test("passes", async () => { await fixture.sandbox.given.purchase({ state: "created" }); });
describe("a purchase", () => {
  test("is paid", async () => {
    const { purchase } = await fixture.sandbox.given.purchase({ state: "active" });
    if (purchase.status !== "refunded") throw new Error("the purchase is " + purchase.status);
  });
});
`,
  );
  const child = start(folder, ["--test", "checkout.test.mjs"]);
  const [code] = await once(child, "close");
  expect(code, child.output()).toBe(1);
  const { names, text } = await left(folder);
  expect(names).toEqual(["checkout-a-purchase-is-paid.snapshot", "checkout-a-purchase-is-paid.trace.html"]);
  expect(text).toContain("the purchase is active");
  expect(text).toContain("checkout.test.mjs:13:");
});

test("a trace shows the line that awaited what failed, also in a function without a name", async () => {
  const folder = await temporaryFolder();
  await writeFile(
    join(folder, "reads.test.mjs"),
    `import { readFile } from "node:fs/promises";
${hooks}
test("reads", async () => {
  await [async () => {
    await readFile("missing");
  }].at(0)();
});
`,
  );
  const child = start(folder, ["--test", "reads.test.mjs"]);
  await once(child, "close");
  expect((await left(folder)).text).toMatch(/&gt; \d+ \| {5}await readFile/);
});

test("a signal that ends a run of node:test first leaves a trace of the test that ran", async () => {
  const folder = await temporaryFolder();
  await writeFile(
    join(folder, "waits.test.mjs"),
    `${hooks}
test("waits", async () => {
  await fixture.sandbox.given.purchase({ state: "active" });
  console.log("waiting");
  await new Promise((resolve) => setTimeout(resolve, 600_000));
});
`,
  );
  const child = start(folder, ["waits.test.mjs"]);
  if (child.stdout === null) throw new Error("The run has no output.");
  for await (const line of createInterface(child.stdout)) if (line.includes("waiting")) break;
  child.kill("SIGTERM");
  expect(await once(child, "close"), child.output()).toEqual([null, "SIGTERM"]);
  const { names, text } = await left(folder);
  expect(names, child.output()).toEqual(["waits-waits.snapshot", "waits-waits.trace.html"]);
  expect(text).toContain("SIGTERM ended the process during this test.");
});

test("the trace is written where the options of the fixture say, or not at all", async () => {
  const folder = await temporaryFolder();
  for (const [name, options] of [
    ["always", { trace: "always", traceFolder: "kept" }],
    ["never", { trace: "never" }],
  ] as const)
    await writeFile(
      join(folder, `${name}.test.mjs`),
      `${hooks.replace('{ seed: "runner-traces" }', JSON.stringify(options))}
test("ends", () => { if (${name === "never"}) throw new Error("fails"); });
`,
    );
  for (const name of ["always", "never"]) await once(start(folder, [`${name}.test.mjs`]), "close");
  expect((await readdir(folder)).sort()).toEqual(["always.test.mjs", "kept", "never.test.mjs"]);
  expect((await readdir(join(folder, "kept"))).sort()).toEqual([
    "always-ends.snapshot",
    "always-ends.trace.html",
  ]);
});
