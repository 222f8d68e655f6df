import { join } from "node:path";
import {
  createVitest,
  type TestCase,
  type TestModule,
  type TestSpecification,
  type TestSuite,
  type Vite,
  type Vitest,
} from "vitest/node";
import type { Bug } from "./bug.ts";
import type { Planted } from "./plant.ts";

/** The result of a run. */
export interface TestRun {
  /** The tests that failed, each with its error. */
  failed: string[];
  /** Other failures: a file that does not load, its `beforeAll`, an error outside of a test. */
  broken: string[];
  passed: number;
}

/** Runs tests of a checkout, without a bug or with one, which is planted while its file is loaded: no file is written. */
export class TestRunner {
  readonly #vitest: Vitest;
  readonly #plant: (planted: Planted | null) => void;

  private constructor(vitest: Vitest, plant: (planted: Planted | null) => void) {
    this.#vitest = vitest;
    this.#plant = plant;
  }

  /** @param options - how many files run at one time, and after how many failed tests a run ends; 0 for never. */
  static async open(checkout: string, options: { maxWorkers: number; bail: number }): Promise<TestRunner> {
    let place = "";
    let text = "";
    const plugin: Vite.Plugin = {
      name: "planted-bug",
      enforce: "pre",
      // The other files are cached as they are without the plugin.
      api: { vitest: { ignoreFsModuleCache: true } },
      configureVitest: ({ defineCacheKeyGenerator }) =>
        defineCacheKeyGenerator(({ id }) => (id === place ? false : undefined)),
      load: (id) => (id === place ? text : null),
    };
    const config = join(checkout, "scripts", "mutate", "vitest.config.ts");
    const quiet = { watch: false, reporters: [{}] };
    const vitest = await createVitest(
      "test",
      { root: checkout, config, ...quiet, ...options },
      { plugins: [plugin] },
    );
    return new TestRunner(vitest, (planted) => {
      vitest.invalidateFile(place);
      place = planted === null ? "" : join(checkout, planted.file);
      text = planted?.source ?? "";
      vitest.invalidateFile(place);
    });
  }

  /** Finds the tests that should notice bugs. @throws Error for a bug that no test file has the name of. */
  async find(bugs: readonly Bug[]): Promise<TestSpecification[]> {
    const patterns = new Map<string, Set<string>>();
    for (const { rule, tests, only = /^/ } of bugs) {
      const found = await this.#vitest.globTestSpecifications([tests]);
      if (found.length === 0)
        throw new Error(
          `The path of no test file has "${tests}", which the planted bug "${rule}" names. Name a part of the path of its tests.`,
        );
      for (const { moduleId } of found)
        patterns.set(moduleId, (patterns.get(moduleId) ?? new Set()).add(only.source));
    }
    return [...patterns].map(([file, names]) =>
      this.#vitest
        .getRootProject()
        .createSpecification(file, { testNamePattern: new RegExp([...names].join("|")) }),
    );
  }

  async run(tests: TestSpecification[], planted: Planted | null): Promise<TestRun> {
    this.#plant(planted);
    const { testModules, unhandledErrors } = await this.#vitest.runTestSpecifications(tests);
    const ran = testModules.filter(({ moduleId }) => tests.some((test) => test.moduleId === moduleId));
    return {
      failed: ran.flatMap(({ children }) => [...children.allTests("failed")].flatMap(describeFailure)),
      broken: [
        ...ran.flatMap((module) => [module, ...module.children.allSuites()].flatMap(describeFailure)),
        ...unhandledErrors.map(String),
      ],
      passed: ran.reduce((count, { children }) => count + [...children.allTests("passed")].length, 0),
    };
  }

  async close(): Promise<void> {
    await this.#vitest.close();
  }
}

/** The first error of a test, of a suite or of a file, in one line. */
function describeFailure(task: TestCase | TestSuite | TestModule): string[] {
  const errors = (task.type === "test" ? task.result().errors : task.errors()) ?? [];
  const name = task.type === "module" ? task.relativeModuleId : task.fullName;
  return errors.slice(0, 1).map(({ message }) => `${name}: ${message.split("\n")[0]?.slice(0, 300)}`);
}
