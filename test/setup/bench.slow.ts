import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";

const checkout = join(import.meta.dirname, "../..");
let folder: string;
let before: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "routing-sandbox-bench-test-"));
  before = join(folder, "before.json");
  await writeFile(before, (await bench("--json")).stdout);
}, 60_000);

afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

function bench(...options: string[]): Promise<{ code: unknown; stdout: string; stderr: string }> {
  const args = [join(checkout, "scripts/bench/run.ts"), "restore", "--rounds", "3", ...options];
  return new Promise((resolve) => {
    execFile(process.execPath, args, { cwd: checkout }, (error, stdout, stderr) => {
      resolve({ code: error?.code ?? 0, stdout, stderr });
    });
  });
}

/** Writes the report of the first run with another ratio and noise, and returns the name of the file. */
async function changed(ratio: number, noise = 0): Promise<string> {
  const report = JSON.parse(await readFile(before, "utf8"));
  for (const row of report.rows) if (row.comparedTo !== null) Object.assign(row.comparedTo, { ratio, noise });
  const file = join(folder, `changed-${ratio}-${noise}.json`);
  await writeFile(file, JSON.stringify(report));
  return file;
}

test("a run of a benchmark fails if a ratio is worse than in an earlier run by more than the noise, and names it", async () => {
  const slower = await bench("--against", await changed(-1e6));
  expect(slower.stderr).toMatch(
    /slower than before: restore, sandbox restore: [\d.]+ times bare evm_snapshot/,
  );
  expect(slower.code).toBe(1);
  for (const file of [await changed(1e6), await changed(-1e6, 1e7)]) {
    const faster = await bench("--against", file);
    expect(faster.stderr).not.toContain("slower");
    expect(faster.code).toBe(0);
  }
}, 60_000);

test("an earlier report that is none is refused before anything runs", async () => {
  const { code, stderr } = await bench("--against", join(checkout, "package.json"));
  expect(stderr).toMatch(/^--against .*package\.json is not the report of an earlier run\. Write one with /m);
  expect(stderr).not.toContain("round");
  expect(code).toBe(1);
});
