import { rm } from "node:fs/promises";
import { basename, join, relative } from "node:path";
import { SandboxError } from "../../sandbox/lib/errors/sandbox-error.ts";
import { snapshotOf } from "../../sandbox/trace/snapshot-of.ts";
import type { TraceFailure } from "../../sandbox/trace/trace-view.ts";
import { forTerminal } from "../../server/lib/escape-controls.ts";
import type { ExplorableSandbox } from "../explore/explorable-sandbox.ts";
import { readPlace, withoutColors } from "./place-of-error.ts";

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
