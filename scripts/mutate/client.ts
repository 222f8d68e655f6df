import type { MutantGroup } from "./mutant.ts";

const folder = "test/sandbox/service/client";

export const client: readonly MutantGroup[] = [
  {
    file: "sandbox/service/client/problem-error.ts",
    tests: [`${folder}/unwrap.test.ts`],
    mutants: [
      {
        rule: "A refusal is thrown with the checks of its transaction.",
        find: "this.checks = problem.binding?.checks ?? [];",
        replace: "this.checks = [];",
      },
      {
        rule: "The message of a refusal names the checks that failed, and no others.",
        find: "filter(({ ok }) => !ok)",
        replace: "filter(({ ok }) => ok)",
      },
      {
        rule: "The message of a refusal has every finding once.",
        find: "(errors ?? []).slice(1)",
        replace: "(errors ?? []).slice(2)",
      },
      {
        rule: "An answer that is no problem is thrown with its status.",
        find: "if (isProblem(error)) throw",
        replace: "if (error !== undefined) throw",
      },
    ],
  },
];
