import { z } from "zod";
import type { EndedTest, TestError } from "./trace-test.ts";

const error = z.custom<TestError>((value) => typeof value === "object" && value !== null);

/** The test that mocha has in the `this` of a hook. */
interface MochaTest {
  title: string;
  file: string;
  state?: string;
  err?: TestError;
  fullTitle(): string;
}
const mochaContext = z.object({
  currentTest: z.custom<MochaTest>(
    (value) => typeof value === "object" && value !== null && "fullTitle" in value,
  ),
});

/** The context that node:test passes to a hook. */
const nodeContext = z.object({
  name: z.string(),
  fullName: z.string(),
  filePath: z.string(),
  error: error.nullish(),
});

/** The context that vitest passes to a hook. */
const vitestContext = z.object({
  task: z.custom<VitestTask>((value) => typeof value === "object" && value !== null),
});

/** A test of vitest, as far as a trace needs it. */
export interface VitestTask {
  name: string;
  fails?: boolean;
  suite?: { name: string; suite?: VitestTask["suite"] };
  file: { filepath: string };
  result?: { state: string; errors?: readonly TestError[] };
}

/** The test that `routing-sandbox/jest-environment` keeps for the fixtures of its test file. */
export const jestTestKey = Symbol.for("routing-sandbox.jest-test");

/**
 * Returns the test of a hook, as the runner describes it at this moment, and null for a runner that does not describe it, and for a test that
 * is expected to fail.
 *
 * @param self - the `this` of the hook.
 * @param context - the first argument of the hook.
 */
export function readRunnerTest(self: unknown, context: unknown): EndedTest | null {
  const mocha = mochaContext.safeParse(self).data?.currentTest;
  if (mocha !== undefined) {
    const { title, file, state, err } = mocha;
    const errors = err === undefined ? [] : [err];
    return { name: mocha.fullTitle(), title, file, hasFailed: state === "failed", errors };
  }
  const node = nodeContext.safeParse(context).data;
  if (node !== undefined) {
    const failure = node.error ?? null;
    const errors = failure === null ? [] : [causeOf(failure)];
    return {
      name: node.fullName,
      title: node.name,
      file: node.filePath,
      hasFailed: failure !== null,
      errors,
    };
  }
  const vitest = vitestContext.safeParse(context).data;
  if (vitest !== undefined) return readVitestTest(vitest.task);
  const jest: unknown = Reflect.get(globalThis, jestTestKey);
  return jest === undefined ? null : (jest as EndedTest);
}

/** Returns a test of vitest as it is at this moment; null for one that is expected to fail. */
export function readVitestTest({ name, fails, suite, file, result }: VitestTask): EndedTest | null {
  if (fails === true) return null;
  const names: string[] = [name];
  for (let group = suite; group !== undefined; group = group.suite)
    if (group.name !== "") names.unshift(group.name);
  return {
    name: names.join(" "),
    title: name,
    file: file.filepath,
    hasFailed: result?.state === "fail",
    errors: result?.errors ?? [],
  };
}

/** The error of the test's own code: node:test wraps it. */
function causeOf(failure: TestError): TestError {
  const isWrapped = "code" in failure && failure.code === "ERR_TEST_FAILURE";
  const inner = error.safeParse(failure.cause);
  return isWrapped && inner.success ? inner.data : failure;
}
