import type { MutantGroup } from "./mutant.ts";

const fault = "test/relayer/faults/fault.test.ts";
const follow = "test/relayer/recovery/follow.test.ts";
const matches = "a fault acts on what it matches";

export const faults: readonly MutantGroup[] = [
  {
    file: "relayer/faults/fault.ts",
    tests: [fault],
    mutants: [
      {
        rule: "A fault acts as often as it says.",
        find: "if (fault.remaining !== null) fault.remaining -= 1;",
        replace: "",
        only: matches,
      },
      {
        rule: "A fault acts on its own program only.",
        find: "(match.program ?? subject.program) === subject.program &&",
        replace: "",
        only: matches,
      },
      {
        rule: "A fault acts on its own operation only.",
        find: "(match.operation_id ?? subject.operation_id) === subject.operation_id &&",
        replace: "",
        only: matches,
      },
      {
        rule: "A fault acts on its own kind of operation only.",
        find: "(match.kind ?? subject.kind) === subject.kind &&",
        replace: "",
        only: matches,
      },
      {
        rule: "A fault acts on its own purchase or refund only.",
        find: "(match.subject_id ?? subject.subject.id) === subject.subject.id",
        replace: "match.subject_id !== null",
        only: matches,
      },
      {
        rule: "A fault that could never act is refused.",
        find: "if (!points.includes(point))",
        replace: "if (points.length === 0)",
      },
      {
        rule: "A fault acts a positive number of times.",
        find: "Number.isSafeInteger(count) && count > 0",
        replace: "Number.isSafeInteger(count)",
      },
      {
        rule: "A reorg takes at least one block.",
        find: "Number.isSafeInteger(depth) && depth > 0",
        replace: "Number.isSafeInteger(depth)",
      },
      {
        rule: "A fault counts how often it acted.",
        find: "fault.hits += 1;",
        replace: "",
        only: matches,
      },
      {
        rule: "How the node mined before the first pause is what it goes back to.",
        find: "this.#mining ??= mode;",
        replace: "this.#mining = mode;",
        only: "clearing a pause",
      },
      {
        rule: "A fault that is reported is a copy.",
        find: "return structuredClone(this.#faults);",
        replace: "return this.#faults;",
        only: "a fault that is reported is a copy",
      },
      {
        rule: "Faults that are put back bring their pause of mining.",
        find: "    this.#mining = mining;\n",
        replace: "",
        tests: [follow],
        only: "faults that are put back",
      },
    ],
  },
  {
    file: "relayer/faults/pause-mining.ts",
    tests: [fault],
    mutants: [
      {
        rule: "Clearing a pause of mining puts back interval mining.",
        find: "if (mining.interval !== null)",
        replace: "if (mining.interval === 0)",
        only: "clearing a pause",
      },
      {
        rule: "Clearing a pause of mining puts back automine.",
        find: "if (mining.automine) await startAutomine(context.node);",
        replace: "",
        only: "paused mining leaves",
      },
      {
        rule: "Faults that are put back pause mining again.",
        find: "if (state.mining !== null) await stopMining(context.node);",
        replace: "",
        tests: [follow],
        only: "faults that are put back",
      },
    ],
  },
  {
    file: "relayer/faults/fault-effects.ts",
    tests: [fault],
    mutants: [
      {
        rule: "A transaction whose answer is lost has reached the node.",
        find: "      await node(method, params);\n      throw new RpcUnavailableError",
        replace: "      throw new RpcUnavailableError",
        only: "a lost answer to the broadcast",
      },
      {
        rule: "A transaction that is dropped has not reached the node.",
        find: "return keccak256(rawOf(params));",
        replace: "return await node(method, params);",
        only: "a dropped transaction",
      },
    ],
  },
];
