// Plants one bug at a time in the TypeScript and asks the tests that are named with it whether they notice. The bugs are in
// scripts/mutate/bugs/, by subject. A bug that no test notices fails the run, and so does one whose place or tests are not found.
//
// The list is made by hand. Stryker (10.1.1) does not serve here: it needs an API that TypeScript 7 does not have, and it took six minutes
// for 130 lines.
//
// `--only "one text|another"` plants the bugs whose subject, rule or export contains one of the texts; `--sample 15` plants some from all
// over the list, the same each time; `--list` plants none.
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import type { Bug } from "./mutate/bug.ts";
import { bugs } from "./mutate/bugs/all.ts";
import { plant, readSources } from "./mutate/plant.ts";
import { TestRunner } from "./mutate/test-runner.ts";

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
