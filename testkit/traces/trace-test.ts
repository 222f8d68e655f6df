import { readFileSync, statSync } from "node:fs";
import { rm } from "node:fs/promises";
import { basename, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { stripVTControlCharacters } from "node:util";
import { SandboxError } from "../../sandbox/lib/errors/sandbox-error.ts";
import { packageRoot } from "../../sandbox/lib/package-root.ts";
import { snapshotOf } from "../../sandbox/trace/snapshot-of.ts";
import type { TraceFailure } from "../../sandbox/trace/trace-view.ts";
import { escapeLines, forTerminal } from "../../server/lib/escape-controls.ts";
import type { ExplorableSandbox } from "../explore/explorable-sandbox.ts";

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
  /** The error behind it, as `fetch failed` has one. */
  cause?: unknown;
}

/** A test that has ended, as far as a trace needs it. */
export interface EndedTest {
  /** The full name, with the names of its groups. */
  name: string;
  /** Its own title. */
  title: string;
  /** The absolute path of its file. */
  file: string;
  hasFailed: boolean;
  errors: readonly TestError[];
}

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
 */
export async function traceTest(
  test: EndedTest,
  sandbox: Pick<ExplorableSandbox, "trace">,
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
      failures: test.errors.map((error) => viewFailure(error, test)),
    });
    if (test.hasFailed) process.stderr.write(forTerminal(`Trace of the failed test: ${file}\n`));
  } catch (error) {
    process.stderr.write(forTerminal(`The test left no trace: ${String(error)}\n`));
  }
}

/** Names a test by its file and its title, so that tests of two files with one title leave two traces. */
function fileName({ name, file }: EndedTest): string {
  const path = relative(process.cwd(), file);
  const place = path.startsWith("..") ? basename(file) : path;
  return inKebabCase(`${place.replace(/(\.(test|spec))?\.[cm]?[jt]sx?$/, "")} ${name}`) || "test";
}

/** Names of tests are sentences; file systems allow 255 bytes. */
function inKebabCase(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^-|-$/g, "")
    .slice(0, 160);
}

function viewFailure(error: TestError, test: EndedTest): TraceFailure {
  const { message = "The test failed.", stack, diff, cause } = error;
  return {
    message: withoutColors([message, ...causesOf(cause).map((inner) => `Caused by: ${inner}`)].join("\n")),
    diff: diff === undefined ? null : withoutColors(diff),
    ...readPlace(stack ?? "", test),
  };
}

/** The largest number of causes of an error that are shown. */
const mostCauses = 5;

/** The messages of the errors behind an error, the outermost first. */
function causesOf(cause: unknown): string[] {
  const causes: string[] = [];
  for (let inner = cause; isObject(inner) && causes.length < mostCauses; inner = inner["cause"]) {
    const { message, code } = inner;
    // Node joins the failures to connect to each address of a host in one error without a message.
    const said = [message, code].find((text) => typeof text === "string" && text !== "");
    if (said !== undefined) causes.push(String(said));
  }
  return causes;
}

function isObject(value: unknown): value is { [name: string]: unknown } {
  return typeof value === "object" && value !== null;
}

/** The longest file of a test that is read, in bytes. */
const mostSourceBytes = 4 * 2 ** 20;

/** The number of lines before and after the line that failed. */
const linesAround = 5;

/**
 * Returns the place that an error comes from, with the code of the test around it: the line in the test's own file, else the line of the test's
 * title.
 *
 * @example readPlace(error.stack, { file: "/project/pays.test.ts", title: "pays" }).at?.line // 12
 */
function readPlace(
  stack: string,
  { file, title }: { file: string; title: string },
): Pick<TraceFailure, "at" | "code"> {
  const at = findFrame(stack, file) ?? findTitle(file, title);
  return { at, code: at.line === null ? [] : readCode(at.file, at.line) };
}

/** Returns whether a file is of a package, which may also be this one in a checkout or linked from elsewhere. */
function isOfPackage(file: string): boolean {
  const own = ["bundle", "protocol", "relayer", "sandbox", "server", "testkit"];
  return (
    file.includes("/node_modules/") || own.some((folder) => file.startsWith(join(packageRoot(), folder, "/")))
  );
}

/** The place in the test's own file that an error comes from, else the first one outside of packages. */
function findFrame(stack: string, testFile: string): TraceFailure["at"] {
  const frames = [...stack.matchAll(/(?:\(|at (?:async )?)((?:file:\/\/)?\/[^():]+):(\d+):(\d+)/g)].map(
    ([, path = "", line, column]) => ({
      file: path.startsWith("file:") ? fileURLToPath(path) : path,
      line: Number(line),
      column: Number(column),
    }),
  );
  const own = frames.find(({ file }) => file === testFile);
  return own ?? frames.find(({ file }) => !isOfPackage(file)) ?? null;
}

/** The line of a test's title; a title that is made from data is on no line. */
function findTitle(file: string, title: string): NonNullable<TraceFailure["at"]> {
  const quoted = ['"', "'", "`"].map((quote) => `${quote}${title}${quote}`);
  const index = readLines(file).findIndex((line) => quoted.some((text) => line.includes(text)));
  return index === -1 ? { file, line: null, column: null } : { file, line: index + 1, column: 1 };
}

function readCode(file: string, line: number): TraceFailure["code"] {
  const lines = readLines(file);
  const { first, last } = blockAround(lines, line);
  const from = Math.max(first, line - linesAround);
  const to = Math.min(last, from + 2 * linesAround);
  return lines.slice(from - 1, to).map((text, index) => ({ line: from + index, text: withoutColors(text) }));
}

/** The lines of the test around a line, or of the function around it: from its first line to the one that closes it, by their indentation. */
function blockAround(lines: readonly string[], line: number): { first: number; last: number } {
  const indentOf = (text: string | undefined = "") => text.length - text.trimStart().length;
  const isStart = (text: string) => /^\s*(?:(?:export\s+)?(?:async\s+)?function\b|(?:test|it)\b)/.test(text);
  const first = lines.slice(0, line).findLastIndex(isStart);
  if (first === -1) return { first: 1, last: lines.length };
  const indent = indentOf(lines[first]);
  const isClosing = (text: string) => indentOf(text) === indent && /^\s*[})\]]/.test(text);
  const length = lines.slice(first + 1).findIndex(isClosing);
  const last = length === -1 ? lines.length : first + length + 2;
  return line > last ? { first: last + 1, last: lines.length } : { first: first + 1, last };
}

function readLines(file: string): string[] {
  try {
    const there = statSync(file);
    // The text of an error can look like a place: a device might never end.
    return there.isFile() && there.size <= mostSourceBytes ? readFileSync(file, "utf8").split("\n") : [];
  } catch {
    return [];
  }
}

/** A text without the colors of a terminal. */
function withoutColors(text: string): string {
  return escapeLines(stripVTControlCharacters(text));
}
