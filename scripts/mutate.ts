// Plants one bug at a time in the TypeScript and asks the tests that are named with it whether they notice. The bugs are in
// scripts/mutate/bugs/, by subject. A bug that no test notices fails the run, and so does one whose place or tests are not found.
//
// The list is made by hand. Stryker (10.1.1) does not serve here: it needs an API that TypeScript 7 does not have, and it took six minutes
// for 130 lines.

import { join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  createVitest,
  type TestCase,
  type TestModule,
  type TestSpecification,
  type TestSuite,
  type Vite,
  type Vitest,
} from "vitest/node";
import type { Bug } from "./mutate/bug.ts";
import { access } from "./mutate/bugs/access.ts";
import { binding } from "./mutate/bugs/binding.ts";
import { idempotency } from "./mutate/bugs/idempotency.ts";
import { money } from "./mutate/bugs/money.ts";
import { relayer } from "./mutate/bugs/relayer.ts";
import { signatures } from "./mutate/bugs/signatures.ts";
import { store } from "./mutate/bugs/store.ts";
import { type Planted, plant, readSources } from "./mutate/plant.ts";
import { atOnce, chooseMutants, type Mutant, type Trier, tryMutants } from "./try-mutants.ts";

/** The result of a run. */
interface TestRun {
  /** The tests that failed, each with its error. */
  failed: string[];
  /** Other failures: a file that does not load, its `beforeAll`, an error outside of a test. */
  broken: string[];
  passed: number;
}

/** Runs tests of a checkout, without a bug or with one, which is planted while its file is loaded: no file is written. */
class TestRunner {
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

/** Every bug that is planted, by its subject. */
const bugs: { readonly [subject: string]: readonly Bug[] } = {
  binding,
  money,
  signatures,
  idempotency,
  relayer,
  store,
  access,
};

const root = fileURLToPath(new URL("..", import.meta.url));

type PlantedBug = Bug & Mutant;

const all = Object.entries(bugs).flatMap(([subject, list]) =>
  list.map(
    (bug): PlantedBug => ({ ...bug, description: `${subject}: ${bug.rule} (${bug.of})`, byHand: true }),
  ),
);
const sources = readSources(root);
for (const bug of all) plant(bug, sources);
const chosen = chooseMutants(all);
if (chosen !== null) {
  await requireUnbroken(all, chosen.chosen);
  await tryMutants(chosen, openTrier);
}

/** The tests must pass without a bug, or every bug would seem to be noticed. Also finds the tests of the bugs that are not tried. */
async function requireUnbroken(everyBug: readonly Bug[], planned: readonly Bug[]): Promise<void> {
  const runner = await TestRunner.open(root, { maxWorkers: atOnce, bail: 0 });
  await runner.find(everyBug);
  const tests = await runner.find(planned);
  console.log(`Running the tests of ${tests.length} files without a bug.`);
  const { failed, broken } = await runner.run(tests, null);
  await runner.close();
  if (failed.length + broken.length > 0)
    throw new Error(`A test fails without a bug:\n${[...failed, ...broken].join("\n")}`);
}

async function openTrier(): Promise<Trier<PlantedBug>> {
  const runner = await TestRunner.open(root, { maxWorkers: 1, bail: 1 });
  return {
    async judge(bug) {
      const { failed, broken, passed } = await runner.run(await runner.find([bug]), plant(bug, sources));
      const [by] = failed;
      if (by !== undefined) return { outcome: "found", by };
      const ran = broken[0] ?? (passed === 0 ? "no test has this name" : "the tests pass");
      return { outcome: "survived", by: `${bug.tests}: ${ran}` };
    },
    close: async () => await runner.close(),
  };
}
