import type { ExplorableSandbox } from "../explore/explorable-sandbox.ts";
import { type EndedTest, type TestError, type TraceOptions, traceTest } from "./trace-test.ts";

/** Returns the test as its runner describes it at this moment; null when the runner does not, or expects it to fail. */
export type ReadTest = () => EndedTest | null;

/** A test that runs, and is to leave a trace when it fails. */
export interface WatchedTest {
  /**
   * Writes the trace of the test, when it is to leave one.
   *
   * @param read - reads the test at its end, where the runner passes it to another hook.
   */
  end(read?: ReadTest): Promise<void>;
  /** Writes the trace of the test as one that a signal ends. */
  interrupt(signal: string): Promise<void>;
}

/** The signals that end a test run from outside: a person's Ctrl-C, and a job that is canceled. */
const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/**
 * Watches a test until it ends: rejections without a handler are failures of it.
 *
 * @example const watched = watchTest(sandbox, tracing, () => readVitestTest(task))
 */
export function watchTest(
  sandbox: Pick<ExplorableSandbox, "trace">,
  tracing: Required<TraceOptions>,
  read: ReadTest,
): WatchedTest {
  if (tracing.trace === "never") return { end: async () => {}, interrupt: async () => {} };
  const rejections: TestError[] = [];
  const collect = (reason: unknown) => {
    const { message, stack, cause } = reason instanceof Error ? reason : new Error(String(reason));
    rejections.push({ message: `Unhandled rejection: ${message}`, stack, cause });
  };
  const leave = async (test: EndedTest | null, more: readonly TestError[]) => {
    if (test === null) return;
    const hasFailed = test.hasFailed || more.length > 0;
    await traceTest({ ...test, hasFailed, errors: [...test.errors, ...more] }, sandbox, tracing);
  };
  process.on("unhandledRejection", collect);
  return {
    async end(readAtEnd = read) {
      process.off("unhandledRejection", collect);
      await leave(readAtEnd() ?? read(), rejections);
    },
    async interrupt(signal) {
      await leave(read(), [{ message: `${signal} ended the process during this test.` }]);
    },
  };
}

/**
 * Runs a last step when a signal is about to end the process, and then lets the signal act as it would without the step.
 *
 * @returns what ends this.
 */
export function beforeSignals(step: (signal: string) => Promise<void>): () => void {
  const listeners = signals.map((signal) => {
    const listener = async () => {
      await step(signal);
      process.kill(process.pid, signal);
    };
    process.once(signal, listener);
    return { signal, listener };
  });
  return () => {
    for (const { signal, listener } of listeners) process.off(signal, listener);
  };
}
