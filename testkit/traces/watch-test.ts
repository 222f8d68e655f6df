import { isError } from "../../protocol/coded-error.ts";
import type { ExplorableSandbox } from "../explore/explorable-sandbox.ts";
import { type EndedTest, type TestError, type TraceOptions, traceTest } from "./trace-test.ts";

/** Returns the test as its runner describes it at this moment; null when the runner does not, or expects it to fail. */
export type ReadTest = () => EndedTest | null;

/** A test that runs, and is to leave a trace when it fails. */
export interface WatchedTest {
  /**
   * Writes the trace of the test, when it is to leave one.
   *
   * @param errors - of the test, which its runner does not know yet: by whether it has passed or failed as far as the runner knows.
   * @param read - reads the test at its end, where the runner passes it to another hook.
   * @returns whether the test had failed before, as far as its runner says.
   */
  end(errors: { passed: TestError | null; failed: TestError | null }, read?: ReadTest): Promise<boolean>;
  /** Writes the trace of the test as one that a signal ends. */
  interrupt(signal: string): Promise<void>;
}

/** The signals that end a test run from outside: a person's Ctrl-C, and a job that is canceled. */
const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/**
 * Watches a test until it ends. Errors that no code has handled are failures of it in the trace, and reach the test runner as without a trace.
 */
export function watchTest(
  sandbox: Pick<ExplorableSandbox, "trace">,
  tracing: Required<TraceOptions>,
  read: ReadTest,
): WatchedTest {
  if (tracing.trace === "never")
    return {
      end: async (_, readAtEnd = read) => hasFailed(readAtEnd() ?? read()),
      interrupt: async () => {},
    };
  const unhandled: TestError[] = [];
  const stop = observeUnhandled((error, kind) => {
    const { message, stack, cause } = isError(error) ? error : new Error(String(error));
    unhandled.push({ message: `${kind}: ${message}`, stack, cause });
  });
  const leave = async (test: EndedTest | null, more: readonly TestError[]) => {
    if (test === null) return;
    const errors = [...test.errors, ...more];
    await traceTest({ ...test, hasFailed: test.hasFailed || more.length > 0, errors }, sandbox, tracing);
  };
  return {
    async end({ passed, failed }, readAtEnd = read) {
      stop();
      const test = readAtEnd() ?? read();
      const error = hasFailed(test) ? failed : passed;
      await leave(test, error === null ? unhandled : [...unhandled, error]);
      return hasFailed(test);
    },
    async interrupt(signal) {
      await leave(read(), [{ message: `${signal} ended the process during this test.` }]);
    },
  };
}

function hasFailed(test: EndedTest | null): boolean {
  return test?.hasFailed === true;
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

/** The events of Node for errors that no code has handled, and their names in a trace. */
const kinds: ReadonlyMap<unknown, string> = new Map([
  ["unhandledRejection", "Unhandled rejection"],
  ["uncaughtException", "Uncaught exception"],
]);

/**
 * Tells of each rejection and exception that no code has handled, until the returned function is called.
 *
 * It watches the events as Node emits them: with a listener of its own, Node and vitest would take the error for handled, and a test would pass.
 *
 * @param observe - called once for each error, with its kind in words.
 */
function observeUnhandled(observe: (error: unknown, kind: string) => void): () => void {
  const { emit } = process;
  // Node raises a rejection that has no listener as an exception, and mocha emits it again.
  const known = new Set<unknown>();
  let isOver = false;
  const observed = new Proxy(emit, {
    apply(target, self, args: unknown[]) {
      const [event, error] = args;
      const kind = kinds.get(event);
      if (kind !== undefined && !isOver && !known.has(error)) {
        known.add(error);
        observe(error, kind);
      }
      return Reflect.apply(target, self, args);
    },
  });
  process.emit = observed;
  return () => {
    isOver = true;
    // Another function may have been put around this one meanwhile.
    if (process.emit === observed) process.emit = emit;
  };
}
