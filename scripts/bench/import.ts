/**
 * The waits of the first test of a project: the import of the package, the first sandbox, what both add to a run of vitest, and the first
 * lifecycle. The package is what `npm run build` writes.
 */
import { execFile, execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { packageRoot } from "../../sandbox/lib/package-root.ts";
import { type Benchmark, elapsed } from "./benchmark.ts";

const execute = promisify(execFile);
const root = packageRoot();
const project = makeProject();

/** The benchmark `import`. */
export const benchmark: Benchmark = {
  title: "The import of the package, the first sandbox, a first test and a first lifecycle",
  baseline: "import viem",
  rounds: 9,
  subjects: {
    "import viem": async () => await timeOf('await import("viem")'),
    "import routing-sandbox": async () => await timeOf('await import("routing-sandbox")'),
    "import and first createSandbox": async () => await timeOf("await create(await loaded())"),
    "later createSandbox": async () =>
      await timeOf(
        "await create(module)",
        "const module = await loaded(); await create(module); await create(module);",
      ),
    "first createSandbox": async () => await timeOf("await create(module)", "const module = await loaded();"),
    "later lifecycle": async () =>
      await timeOf("await refund()", "await create(await loaded()); await refund(); await refund();"),
    "first lifecycle": async () => await timeOf("await refund()", "await create(await loaded());"),
    "a sandbox in a vitest test": async () => (await runVitest("sandbox")) - (await runVitest("empty")),
  },
  comparedTo: { "first createSandbox": "later createSandbox", "first lifecycle": "later lifecycle" },
  bars: {
    "import routing-sandbox": { atMost: 1 },
    "first createSandbox": { atMost: 1.5 },
    "first lifecycle": { atMost: 2 },
    "a sandbox in a vitest test": { noMoreThan: 500 },
  },
  close: async () => rmSync(project, { recursive: true, force: true }),
};

/** Makes a project that has the package and its tests as if they were installed. */
function makeProject(): string {
  execFileSync(process.execPath, [join(root, "scripts", "build.ts")], { stdio: ["ignore", 2, 2] });
  const folder = mkdtempSync(join(tmpdir(), "routing-sandbox-bench-"));
  mkdirSync(join(folder, "node_modules"));
  for (const name of ["viem", "vitest"])
    symlinkSync(join(root, "node_modules", name), join(folder, "node_modules", name));
  symlinkSync(root, join(folder, "node_modules", "routing-sandbox"));
  writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }));
  // Vitest would transform a linked package; one that is installed is imported as it is.
  writeFileSync(
    join(folder, "vitest.config.js"),
    "export default { test: { server: { deps: { external: [/\\/dist\\//] } } } };\n",
  );
  writeFileSync(
    join(folder, "empty.test.js"),
    'import { test } from "vitest";\ntest("is empty", () => {});\n',
  );
  writeFileSync(
    join(folder, "sandbox.test.js"),
    'import { sandboxTest } from "routing-sandbox/vitest";\nsandboxTest()("is empty", ({ sandbox }) => void sandbox);\n',
  );
  return folder;
}

/** Returns the milliseconds that a step takes in a new process, after another step. */
async function timeOf(step: string, before = ""): Promise<number> {
  const program = `
    const loaded = async () => await import("routing-sandbox");
    const create = async ({ createSandbox }) => void opened.push(await createSandbox());
    const refund = async () => await opened[0].given.purchase({ state: "refunded" });
    const opened = [];
    ${before}
    const began = performance.now();
    ${step};
    console.log(performance.now() - began);
    for (const sandbox of opened) await sandbox.close();`;
  const { stdout } = await execute(process.execPath, ["--input-type=module", "--eval", program], {
    cwd: project,
  });
  return Number(stdout);
}

/** Runs one of the test files: vitest runs all whose paths contain a name. */
async function runVitest(test: "sandbox" | "empty"): Promise<number> {
  const vitest = join(project, "node_modules", "vitest", "vitest.mjs");
  return await elapsed(
    async () => await execute(process.execPath, [vitest, "run", `${test}.test.js`], { cwd: project }),
  );
}
