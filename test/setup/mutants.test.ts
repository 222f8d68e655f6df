import { existsSync, readFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { contractBugs, stateBugs } from "../../scripts/contract-bugs/all.ts";
import { mutants, sampleOf } from "../../scripts/mutate/all.ts";
import { NotApplicableError, plant } from "../../scripts/mutate/mutant.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const sourceOf = (file: string) => readFileSync(join(root, file), "utf8");

test("every bug that npm run mutate plants has its place, and is TypeScript", () => {
  const broken = mutants.flatMap((mutant) => {
    try {
      const source = sourceOf(mutant.file);
      const planted = plant(source, mutant);
      stripTypeScriptTypes(planted);
      return planted === source ? [`${mutant.rule} changes nothing`] : [];
    } catch (error) {
      return [error instanceof NotApplicableError ? error.message : `${mutant.rule} ${String(error)}`];
    }
  });
  expect(broken).toEqual([]);
});

test("every planted bug has its own rule, in one sentence, and names existing tests", () => {
  const rules = mutants.map(({ rule }) => rule);
  expect(rules.length).toBeGreaterThan(500);
  expect(rules.filter((rule, place) => rules.indexOf(rule) !== place)).toEqual([]);
  expect(
    rules.filter((rule) => !/^[A-Z][^.]*\.$/.test(rule.replaceAll(/\d\.\d|\(.*\)|__\w+__/g, ""))),
  ).toEqual([]);
  const tests = [...new Set(mutants.flatMap((mutant) => mutant.tests))];
  expect(tests.filter((file) => !file.endsWith(".test.ts") || !existsSync(join(root, file)))).toEqual([]);
});

test("every handwritten bug of a contract has its place and its own rule, in one sentence", () => {
  const bugs = [...Object.entries(contractBugs), ...Object.entries(stateBugs)].flatMap(([source, planted]) =>
    planted.map((bug) => ({ ...bug, file: `contracts/${source}.sol` })),
  );
  const rules = bugs.map(({ rule }) => rule);
  expect(rules.length).toBeGreaterThanOrEqual(80);
  expect(rules.filter((rule, place) => rules.indexOf(rule) !== place)).toEqual([]);
  expect(rules.filter((rule) => !/^[A-Z][^.]*\.$/.test(rule))).toEqual([]);
  const without = bugs.filter((bug) => {
    const source = sourceOf(bug.file);
    return plant(source, bug) === source;
  });
  expect(without).toEqual([]);
});

test("a sample takes the same bugs each time, of as many subjects as it can", () => {
  const sample = sampleOf(mutants, 15);
  expect(sample).toEqual(sampleOf(mutants, 15));
  expect(new Set(sample.map(({ subject }) => subject)).size).toBe(15);
});

test("a text that does not occur exactly once is refused with file, text and rule", () => {
  const [mutant] = mutants;
  if (mutant === undefined) throw new Error("There are planted bugs.");
  const planted = { ...mutant, file: "a.ts", find: "one", replace: "two", rule: "It is one." };
  expect(plant("just one", planted)).toBe("just two");
  expect(() => plant("none", { ...planted, find: "many" })).toThrow(
    new NotApplicableError('a.ts does not contain "many", to break the rule: It is one.'),
  );
  expect(() => plant("one or one", planted)).toThrow(
    new NotApplicableError('a.ts contains 2 times "one", to break the rule: It is one.'),
  );
});
