import type { MutantGroup } from "./mutant.ts";

const tests = ["test/testkit/matchers.test.ts"];

export const matchers: readonly MutantGroup[] = [
  {
    file: "testkit/matchers.ts",
    tests,
    mutants: [
      {
        rule: "The matcher toBeAcceptedAs expects the named step.",
        find: "one.step === step && isAbout(one, id)",
        replace: "isAbout(one, id)",
      },
      {
        rule: "The matcher toBeAcceptedAs expects the named object.",
        find: 'id === undefined || subject.split(", ").includes(id)',
        replace: "true",
      },
      {
        rule: "The matcher toBeAcceptedAs explains the transaction for the named object, and refuses an id that no object has.",
        find: "const shown = isAsked ? explanation : await explainFor(sandbox, hash, id);",
        replace: "const shown = explanation;",
      },
      {
        rule: "The matcher toBeRefusedBy expects every named check to have failed.",
        find: "checks.every((name) => failed.has(name))",
        replace: "checks.every((name) => failed.size > 0 && name !== undefined)",
      },
      {
        rule: "The matcher toBeRefusedBy expects a refusal when no check is named.",
        find: "pass: isRefused &&",
        replace: "pass:",
      },
      {
        rule: "The matcher toBeProblem expects the code.",
        find: "pass: problem?.code === code",
        replace: "pass: problem !== null && code !== undefined",
      },
      {
        rule: "The matcher toHaveFingerprint expects the digest.",
        find: "pass: fingerprint.digest === digest",
        replace: "pass: digest !== undefined",
      },
    ],
  },
  {
    file: "testkit/vitest.ts",
    tests,
    mutants: [
      {
        rule: "A test waits for its assertions.",
        find: "  waiting.push(recording);\n",
        replace: "",
        only: "not awaited",
      },
    ],
  },
];
