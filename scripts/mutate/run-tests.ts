import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, rmSync } from "node:fs";
import { join, relative } from "node:path";
import { z } from "zod";
import { startsPrograms } from "./starts-programs.ts";

/** The result of a run. */
export interface TestRun {
  /** The tests that failed, by file and full name; what failed outside of a test is named by its file. */
  failed: string[];
  passed: number;
}

/** The time after which the tests of one file are taken to hang, in milliseconds. */
const longestMs = 300_000;

const report = z.object({
  numPassedTests: z.int(),
  testResults: z.array(
    z.object({
      name: z.string(),
      status: z.string(),
      message: z.string(),
      assertionResults: z.array(z.object({ fullName: z.string(), status: z.string() })),
    }),
  ),
});

/**
 * Runs test files of a checkout with vitest.
 *
 * @throws Error when vitest itself does not run.
 */
export async function runTests(
  folder: string,
  tests: readonly string[],
  { bail, only }: { bail: boolean; only: string | null },
): Promise<TestRun> {
  const reportFile = join(folder, "cache", "report.json");
  rmSync(reportFile, { force: true });
  const options = ["--reporter=json", `--outputFile=${reportFile}`];
  if (!tests.some((file) => startsPrograms(folder, file)))
    options.push("--config", join("scripts", "mutate", "vitest.config.ts"), "--root", ".");
  if (bail) options.push("--bail=1");
  if (only !== null) options.push("--testNamePattern", only);
  const vitest = join(folder, "node_modules", "vitest", "vitest.mjs");
  const child = spawn(process.execPath, [vitest, "run", ...tests, ...options], {
    cwd: folder,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk: Buffer) => {
      output = (output + chunk.toString()).slice(-4_000);
    });
  let late = false;
  const limit = setTimeout(() => {
    late = true;
    child.kill("SIGKILL");
  }, longestMs * tests.length);
  const [code] = await once(child, "close");
  clearTimeout(limit);
  if (late) return { failed: ["no end in time"], passed: 0 };
  return read(reportFile, folder, code === 0, output);
}

function read(reportFile: string, folder: string, succeeded: boolean, output: string): TestRun {
  const { data } = report.safeParse(parse(reportFile));
  if (data === undefined || data.testResults.length === 0)
    throw new Error(`vitest did not run the tests:\n${output}`);
  const failed = data.testResults.flatMap(({ name, status, message, assertionResults }) => {
    const file = relative(folder, name);
    const names = assertionResults.filter((one) => one.status === "failed").map(({ fullName }) => fullName);
    if (names.length > 0) return names.map((test) => `${file}: ${test}`);
    return status === "failed" ? [`${file}: ${message.split("\n")[0]}`] : [];
  });
  if (failed.length === 0 && !succeeded) failed.push("an error outside of any test");
  return { failed, passed: data.numPassedTests };
}

function parse(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    return null;
  }
}
