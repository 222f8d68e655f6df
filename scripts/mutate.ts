// Plants one bug at a time in the TypeScript and asks the tests that are named with it whether they notice. The bugs are in
// scripts/mutate/, by subject, each with the rule that it breaks. A bug that no test notices must be named in
// scripts/mutate/survivors-allowed.json with the reason why no test could notice; any other survivor fails the run, and so does a bug
// whose place is no longer there.
//
// The list is made by hand. Stryker (10.1.1) does not serve here: the programs that tests start do not have its mutants, so it calls
// killed ones survivors; it needs an API that TypeScript 7 does not have; and it took six minutes for 130 lines.
//
// `--only "one text|another"` plants the bugs whose rule, file or subject contains one of the texts; `--sample 15` plants a few of every
// subject, the same each time; `--list` plants none.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { z } from "zod";
import { mutants, sampleOf } from "./mutate/all.ts";
import { type Mutant, plant } from "./mutate/mutant.ts";
import { root, Workspace } from "./mutate/workspace.ts";

/** The number of bugs that are tried at one time, each in its own copy of the checkout. */
const atOnce = 2;

const reasons = z.record(z.string(), z.string());

interface Verdict {
  mutant: Mutant;
  killedBy: string | null;
}

const { values } = parseArgs({
  options: {
    only: { type: "string" },
    sample: { type: "string" },
    list: { type: "boolean", default: false },
  },
});
const chosen = choose(values);
if (values.list) {
  for (const { subject, rule, file } of chosen) console.log(`${subject}: ${rule} (${file})`);
  console.log(`${chosen.length} bugs`);
} else {
  for (const mutant of mutants) plant(readFileSync(join(root, mutant.file), "utf8"), mutant);
  report(await tryAll(chosen), { whole: chosen.length === mutants.length });
}

function choose({ only, sample }: { only?: string; sample?: string }): readonly Mutant[] {
  const parts = only?.split("|") ?? [""];
  const found = mutants.filter((mutant) =>
    parts.some((part) => [mutant.rule, mutant.file, mutant.subject].some((text) => text.includes(part))),
  );
  return sample === undefined ? found : sampleOf(found, Number(sample));
}

async function tryAll(planned: readonly Mutant[]): Promise<Verdict[]> {
  const workspaces = Array.from({ length: atOnce }, (_, index) => Workspace.make(String(index)));
  const [first] = workspaces;
  if (first !== undefined) await requireUnbroken(first, planned);
  const waiting = [...planned];
  const verdicts: Verdict[] = [];
  const tryInTurn = async (workspace: Workspace) => {
    for (let mutant = waiting.shift(); mutant !== undefined; mutant = waiting.shift()) {
      const started = performance.now();
      const { failed, passed } = await workspace.try(mutant);
      const [killedBy = null] = failed;
      verdicts.push({ mutant, killedBy });
      const seconds = ((performance.now() - started) / 1_000).toFixed(1);
      const survived = passed === 0 ? "SURVIVED: no test ran" : "SURVIVED";
      const outcome = killedBy === null ? survived : `killed by ${killedBy}`;
      console.log(`${verdicts.length}/${planned.length} in ${seconds} s: ${mutant.rule}\n    ${outcome}`);
    }
  };
  await Promise.all(workspaces.map(tryInTurn));
  return verdicts;
}

/** The tests must pass without a bug, or every bug would seem to be noticed; a file that fails among others is run once more alone. */
async function requireUnbroken(workspace: Workspace, planned: readonly Mutant[]): Promise<void> {
  const tests = [...new Set(planned.flatMap((mutant) => mutant.tests))];
  console.log(`Running ${tests.length} test files without a bug.`);
  const { failed } = await workspace.run(tests, { bail: false, only: null });
  for (const file of tests.filter((test) => failed.some((failure) => failure.startsWith(test)))) {
    const alone = await workspace.run([file], { bail: false, only: null });
    if (alone.failed.length > 0) throw new Error(`A test fails without a bug:\n${alone.failed.join("\n")}`);
  }
}

function report(verdicts: readonly Verdict[], { whole }: { whole: boolean }): void {
  const survivors = verdicts.filter(({ killedBy }) => killedBy === null).map(({ mutant }) => mutant);
  const allowedFile = join(root, "scripts", "mutate", "survivors-allowed.json");
  const allowed = existsSync(allowedFile) ? reasons.parse(JSON.parse(readFileSync(allowedFile, "utf8"))) : {};
  const unexplained = survivors.filter(({ rule }) => allowed[rule] === undefined);
  console.log(
    `\n${verdicts.length - survivors.length} killed, ${survivors.length} survived (${survivors.length - unexplained.length} explained).`,
  );
  for (const { rule, file, tests } of unexplained)
    console.log(`  SURVIVED: ${rule}\n    ${file}, not noticed by ${tests.join(", ")}`);
  const rules = new Set(survivors.map(({ rule }) => rule));
  const outdated = whole ? Object.keys(allowed).filter((rule) => !rules.has(rule)) : [];
  for (const rule of outdated)
    console.log(`  no longer a survivor, remove from survivors-allowed.json: ${rule}`);
  if (unexplained.length + outdated.length > 0) process.exitCode = 1;
}
