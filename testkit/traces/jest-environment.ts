import { jestTestKey } from "./runner-test.ts";
import type { EndedTest, TestError } from "./trace-test.ts";

/** A test of jest-circus, as far as a trace needs it. */
interface JestTest {
  name: string;
  parent?: JestTest;
  failing?: boolean;
}

/** The events of jest-circus that begin a test and that say that it failed; `error` is one that no code has handled, with its promise if it is a rejection. */
type JestEvent =
  | { name: "test_start"; test: JestTest }
  | { name: "test_fn_failure" | "hook_failure"; test?: JestTest; error: unknown }
  | { name: "error"; error: unknown; promise?: unknown };

/** The state of jest-circus after an event, as far as it says whose an error is. Jest before 30.5 has no promises of a test. */
interface JestState {
  currentlyRunningTest?: {
    errors?: readonly unknown[];
    unhandledRejectionErrorByPromise?: ReadonlyMap<unknown, unknown>;
  } | null;
}

/** The configuration of jest, as far as it fakes timers. */
interface JestConfig {
  projectConfig: { fakeTimers: { doNotFake?: readonly string[] } };
}

type JestEnvironment = new (
  config: JestConfig,
  context: { testPath: string },
) => { global: { [key: symbol]: unknown } };

// Jest brings it; the package has no dependency on jest.
const name: string = "jest-environment-node";
const { TestEnvironment }: { TestEnvironment: JestEnvironment } = await import(name);

/** Functions that Node's connections need: with jest's fakes of them, the first hook would wait for ever. */
const neverFaked = ["nextTick", "queueMicrotask"];

/**
 * Jest's environment for Node, which also tells `sandboxFixture` which test runs and how it failed: jest says this to no hook. Set it as
 * `testEnvironment`, and a failed test leaves a trace. Its fake timers leave `process.nextTick` and `queueMicrotask` real.
 *
 * @example
 * // jest.config.js
 * export default { testEnvironment: "routing-sandbox/jest-environment" };
 */
export default class RoutingSandboxEnvironment extends TestEnvironment {
  readonly #file: string;

  constructor(config: JestConfig, context: { testPath: string }) {
    const { fakeTimers } = config.projectConfig;
    const doNotFake = [...neverFaked, ...(fakeTimers.doNotFake ?? [])];
    super(
      { ...config, projectConfig: { ...config.projectConfig, fakeTimers: { ...fakeTimers, doNotFake } } },
      context,
    );
    this.#file = context.testPath;
  }

  /** Keeps the test that runs, and its errors. */
  handleTestEvent(event: JestEvent, { currentlyRunningTest: running }: JestState): void {
    if (event.name === "test_start") this.global[jestTestKey] = begun(event.test, this.#file);
    else if (event.name === "error") {
      // Jest counts what an earlier test has left behind as that one's.
      const { error, promise } = event;
      const isOwn =
        promise === undefined
          ? running?.errors?.includes(error)
          : running?.unhandledRejectionErrorByPromise?.has(promise);
      if (isOwn !== false) this.#note(error);
    } else if (["test_fn_failure", "hook_failure"].includes(event.name)) this.#note(event.error);
  }

  #note(error: unknown): void {
    const test = this.global[jestTestKey] as EndedTest | undefined;
    if (test === undefined) return;
    // Jest hands over the error, or the error with the place where the test was declared.
    const first: unknown = Array.isArray(error) ? error[0] : error;
    const own: TestError =
      typeof first === "object" && first !== null ? first : { message: String(first), stack: undefined };
    this.global[jestTestKey] = { ...test, hasFailed: true, errors: [...test.errors, own] };
  }
}

function begun(test: JestTest, file: string): EndedTest | undefined {
  if (test.failing === true) return undefined;
  const names: string[] = [];
  for (let { parent } = test; parent !== undefined; parent = parent.parent)
    if (parent.name !== "ROOT_DESCRIBE_BLOCK") names.unshift(parent.name);
  return { name: [...names, test.name].join(" "), title: test.name, file, hasFailed: false, errors: [] };
}
