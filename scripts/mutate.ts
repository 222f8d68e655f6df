// Plants one bug at a time in the TypeScript and asks the tests that are named with it whether they notice. The bugs are in
// scripts/mutate/bugs/, by subject. A bug that no test notices fails the run, and so does one whose place or tests are not found.
//
// The list is made by hand. Stryker (10.1.1) does not serve here: it needs an API that TypeScript 7 does not have, and it took six minutes
// for 130 lines.
//
// `--only "one text|another"` plants the bugs whose subject, rule or export contains one of the texts; `--sample 15` plants some from all
// over the list, the same each time; `--list` plants none.

import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
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

/** The number of bugs that are tried at one time. */
const atOnce = 2;
const root = fileURLToPath(new URL("..", import.meta.url));

type Named = Bug & { subject: string };

const { values } = parseArgs({
  options: {
    only: { type: "string" },
    sample: { type: "string" },
    list: { type: "boolean", default: false },
  },
});
const all = Object.entries(bugs).flatMap(([subject, list]) => list.map((bug) => ({ subject, ...bug })));
const sources = readSources(root);
for (const bug of all) plant(bug, sources);
const chosen = choose(all, values);
if (values.list) {
  for (const { subject, rule, of } of chosen) console.log(`${subject}: ${rule} (${of})`);
  console.log(`${chosen.length} bugs`);
} else {
  await requireUnbroken(all, chosen);
  const survivors = await tryAll(chosen);
  console.log(`\n${chosen.length - survivors.length} killed, ${survivors.length} survived.`);
  for (const { rule, of, tests } of survivors)
    console.log(`  SURVIVED: ${rule}\n    ${of}, not noticed by ${tests}`);
  // vitest has set it for the tests that failed, as they should.
  process.exitCode = survivors.length > 0 ? 1 : 0;
}

function choose(from: readonly Named[], { only, sample }: { only?: string; sample?: string }): Named[] {
  const parts = only?.split("|") ?? [""];
  const found = from.filter(({ subject, rule, of }) =>
    parts.some((part) => [subject, rule, of].some((text) => text.includes(part))),
  );
  const step = Math.max(1, found.length / Number(sample ?? found.length));
  return found.filter((_, index) => Math.floor(index % step) === 0);
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

/** @returns the bugs that no test has noticed. */
async function tryAll(planned: readonly Bug[]): Promise<Bug[]> {
  const waiting = [...planned];
  const survivors: Bug[] = [];
  let tried = 0;
  const tryInTurn = async () => {
    const runner = await TestRunner.open(root, { maxWorkers: 1, bail: 1 });
    for (let bug = waiting.shift(); bug !== undefined; bug = waiting.shift()) {
      const started = performance.now();
      const { failed, broken, passed } = await runner.run(await runner.find([bug]), plant(bug, sources));
      if (failed.length === 0) survivors.push(bug);
      const ran = broken[0] ?? (passed === 0 ? "no test has this name" : "the tests pass");
      const seconds = ((performance.now() - started) / 1_000).toFixed(1);
      tried += 1;
      console.log(
        `${tried}/${planned.length} in ${seconds} s: ${bug.rule}\n    ${failed[0] ?? `SURVIVED: ${ran}`}`,
      );
    }
    await runner.close();
  };
  await Promise.all(Array.from({ length: atOnce }, tryInTurn));
  return survivors;
}
