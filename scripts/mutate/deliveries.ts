import type { MutantGroup } from "./mutant.ts";

const tests = ["test/sandbox/service/receiver/deliver-undelivered.test.ts"];

export const deliveries: readonly MutantGroup[] = [
  {
    file: "sandbox/service/receiver/deliver-undelivered.ts",
    tests,
    mutants: [
      {
        rule: "The events of all programs are delivered.",
        find: "for (const program of this.#programs)",
        replace: "for (const program of this.#programs.slice(0, 1))",
      },
      {
        rule: "Calls that deliver everything run one at a time.",
        find: "return await this.#turns.runExclusive(async () => {",
        replace: "return await Promise.resolve().then(async () => {",
        only: "two calls",
      },
    ],
  },
  {
    file: "sandbox/hosts/auto-delivery.ts",
    tests,
    only: "autoDeliver",
    mutants: [
      {
        rule: "With autoDeliver an event is delivered when it happens.",
        find: 'topics.includes("events")',
        replace: 'topics.includes("keys")',
      },
    ],
  },
];
