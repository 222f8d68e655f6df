import { readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { stripVTControlCharacters } from "node:util";
import type { TraceFailure } from "../../sandbox/hosts/trace/trace-view.ts";
import { snapshotOf } from "../../sandbox/hosts/trace/write-trace.ts";
import { SandboxError } from "../../sandbox/lib/errors/sandbox-error.ts";
import { escapeControls } from "../../server/lib/escape-controls.ts";
import type { Sandbox } from "../create-sandbox.ts";

/** When a test leaves a trace. */
export type TraceMode = "on-failure" | "always" | "never";

/** The options of a fixture that say when and where tests leave traces. */
export interface TraceOptions {
  /**
   * `on-failure` (default): a test that fails leaves a trace, also by a timeout. `always`: every test leaves one. `never`: none does.
   */
  trace?: TraceMode;
  /** The folder of the traces, from the current folder. Default: `traces`. */
  traceFolder?: string;
}

/** An error as a test runner keeps it. */
export interface TestError {
  message?: string;
  stack?: string | undefined;
  diff?: string | undefined;
}

/** A test that has ended, as far as a trace needs it. */
export interface EndedTest {
  /** The full name, with the names of its groups. */
  name: string;
  /** The absolute path of its file. */
  file: string;
  hasFailed: boolean;
  errors: readonly TestError[];
}

/** The number of lines before and after the line that failed. */
const linesAround = 5;

/** @throws SandboxError option_invalid for another mode or a folder that is no text. */
export function requireTraceOptions({
  trace = "on-failure",
  traceFolder = "traces",
}: TraceOptions): Required<TraceOptions> {
  if (!["on-failure", "always", "never"].includes(trace))
    throw new SandboxError(
      "option_invalid",
      `trace is "on-failure", "always" or "never", not ${JSON.stringify(trace)}.`,
    );
  if (typeof traceFolder !== "string" || traceFolder === "")
    throw new SandboxError(
      "option_invalid",
      'traceFolder is the name of a folder. Pass one such as "traces".',
    );
  return { trace, traceFolder };
}

/**
 * Writes the trace of a test that has ended, if it is to leave one, and otherwise removes the one that an earlier attempt has left. A trace that
 * cannot be written does not hide the test's own error: a warning says why.
 *
 * @example await traceTest(test, sandbox, { trace: "on-failure", traceFolder: "traces" })
 */
export async function traceTest(
  test: EndedTest,
  sandbox: Pick<Sandbox, "trace">,
  { trace, traceFolder }: Required<TraceOptions>,
): Promise<void> {
  if (trace === "never") return;
  const file = join(traceFolder, `${fileName(test)}.trace.html`);
  if (trace === "on-failure" && !test.hasFailed) {
    await rm(file, { force: true });
    await rm(snapshotOf(file), { force: true });
    return;
  }
  try {
    await sandbox.trace(file, {
      test: test.name,
      failures: test.errors.map((error) => viewFailure(error, test.file)),
    });
    if (test.hasFailed) process.stderr.write(`Trace of the failed test: ${file}\n`);
  } catch (error) {
    process.stderr.write(`The test left no trace: ${String(error)}\n`);
  }
}

/** Names of tests are sentences; file systems allow 255 bytes. */
function fileName({ name }: EndedTest): string {
  return (
    name
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, "-")
      .replaceAll(/^-|-$/g, "")
      .slice(0, 120) || "test"
  );
}

function viewFailure(
  { message = "The test failed.", stack, diff }: TestError,
  testFile: string,
): TraceFailure {
  const at = findFrame(stack ?? "", testFile);
  return {
    message: plain(message),
    diff: diff === undefined ? null : plain(diff),
    at,
    code: at === null ? [] : readCode(at.file, at.line),
  };
}

/** The place in the test's own file that an error comes from, else the first one outside of packages. */
function findFrame(stack: string, testFile: string): TraceFailure["at"] {
  const frames = [...stack.matchAll(/(?:\(|at )((?:file:\/\/)?\/[^():]+):(\d+):(\d+)/g)].map(
    ([, path = "", line, column]) => ({
      file: path.startsWith("file:") ? fileURLToPath(path) : path,
      line: Number(line),
      column: Number(column),
    }),
  );
  const own = frames.find(({ file }) => file === testFile);
  return own ?? frames.find(({ file }) => !file.includes("/node_modules/")) ?? null;
}

function readCode(file: string, line: number): TraceFailure["code"] {
  try {
    const lines = readFileSync(file, "utf8").split("\n");
    const first = Math.max(1, line - linesAround);
    return lines
      .slice(first - 1, line + linesAround)
      .map((text, index) => ({ line: first + index, text: plain(text) }));
  } catch {
    return [];
  }
}

/** A text without the colors of a terminal. */
function plain(text: string): string {
  return stripVTControlCharacters(text).split("\n").map(escapeControls).join("\n");
}
