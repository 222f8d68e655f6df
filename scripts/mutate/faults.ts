import type { MutantGroup } from "./mutant.ts";

const fault = "test/relayer/faults/fault.test.ts";
const follow = "test/relayer/recovery/follow.test.ts";
const matches = "a fault acts on what it matches";

const bodies = "test/sandbox/hosts/control/bodies.test.ts";
const receiver = "test/sandbox/service/receiver/receiver.test.ts";
const everyWrite = "test/sandbox/service/faults/every-write.test.ts";

export const faults: readonly MutantGroup[] = [
  {
    file: "sandbox/service/faults/fault-plan.ts",
    tests: [fault],
    mutants: [
      {
        rule: "A fault acts as often as it says.",
        find: "if (fault.remaining !== null) fault.remaining -= 1;",
        replace: "",
        only: matches,
      },
      {
        rule: "A fault that is used up acts no more.",
        find: " || fault.remaining === 0",
        replace: "",
        tests: ["test/sandbox/service/faults/faults.test.ts"],
        only: "answer-lost",
      },
      {
        rule: "A fault acts only on what it is limited to.",
        find: "if (!Object.entries(fault.match).every(([field, value]) => subject[field] === value)) continue;",
        replace: "",
        only: matches,
      },
      {
        rule: "A fault acts on what every field of its match names.",
        find: "Object.entries(fault.match).every(",
        replace: "Object.entries(fault.match).some(",
        only: matches,
      },
      {
        rule: "A fault that could never act is refused.",
        find: "if (points.includes(point)) return point;",
        replace: "if (points.length > 0) return point;",
      },
      {
        rule: "A fault counts how often it acted.",
        find: "fault.hits += 1;",
        replace: "",
        only: matches,
      },
      {
        rule: "A fault that is reported is a copy.",
        find: "return structuredClone(this.#faults);",
        replace: "return this.#faults;",
        only: "a fault that is reported is a copy",
      },
      {
        rule: "Only the programs of the sandbox can be named.",
        find: "!this.#programs.includes(program)",
        replace: "this.#programs.length === 0",
      },
    ],
  },
  {
    file: "sandbox/service/faults/fault-request.ts",
    tests: [fault],
    mutants: [
      {
        rule: "A fault acts a positive number of times.",
        find: 'z.int().min(1, "must be at least 1, or null to act until it is cleared")',
        replace: "z.int()",
      },
      {
        rule: "A reorg takes at least one block.",
        find: "depth: z.int().min(1).optional()",
        replace: "depth: z.int().optional()",
      },
      {
        rule: "A detail of another action is refused.",
        find: "Reflect.get(entry, detail) !== undefined && entry.action !== action",
        replace: 'Reflect.get(entry, detail) !== undefined && entry.action === ""',
      },
      {
        rule: "A named fault that goes to another layer has no field of the first one.",
        find: "if (unknown === undefined) return entry;",
        replace: "return entry;",
        tests: [bodies],
      },
    ],
  },
  {
    file: "sandbox/service/faults/faults.ts",
    tests: [receiver],
    mutants: [
      {
        rule: "An external receiver cannot be made to fail.",
        find: "|| this.#receiver.isOwn) return;",
        replace: '|| this.#receiver.url !== "") return;',
      },
      {
        rule: "A fault of the chain acts once, at once.",
        find: "if (entry.count !== undefined)",
        replace: "if (entry.count === null)",
        tests: [bodies],
      },
    ],
  },
  {
    file: "sandbox/service/faults/chain-effects.ts",
    tests: [fault],
    mutants: [
      {
        rule: "How the node mined before the first pause is what it goes back to.",
        find: "this.#paused ??= { automine, interval };",
        replace: "this.#paused = { automine, interval };",
        only: "clearing a pause",
      },
      {
        rule: "Faults that are put back bring their pause of mining.",
        find: "this.#paused = structuredClone(paused);",
        replace: "",
        tests: [follow],
        only: "faults that are put back",
      },
      {
        rule: "Clearing a pause of mining puts back interval mining.",
        find: "if (paused.interval !== null)",
        replace: "if (paused.interval === 0)",
        only: "clearing a pause",
      },
      {
        rule: "Clearing a pause of mining puts back automine.",
        find: "if (paused.automine) await startAutomine(this.#node);",
        replace: "",
        only: "paused mining leaves",
      },
      {
        rule: "Faults that are put back pause mining again.",
        find: "if (paused !== null) await this.#stopMining();",
        replace: "",
        tests: [follow],
        only: "faults that are put back",
      },
    ],
  },
  {
    file: "server/http/faults/meet-api-fault.ts",
    tests: [everyWrite],
    mutants: [
      {
        rule: "A 503 by a fault asks for a repeat of the request.",
        find: '"rpc_unavailable",',
        replace: '"not_found",',
        tests: ["test/sandbox/service/faults/faults.test.ts"],
        only: "has Retry-After",
      },
      {
        rule: "A lost answer is not sent.",
        find: 'throw new AnswerLostError(fault.action === "partial" ? answer : null);',
        replace: "return;",
        tests: ["test/sandbox/service/faults/faults.test.ts"],
      },
    ],
  },
  {
    file: "server/http/run-operation.ts",
    tests: [everyWrite],
    mutants: [
      {
        rule: "A fault before the commit acts before anything is recorded.",
        find: 'await meetApiFault("before_commit", operation, context, null);',
        replace: "",
        only: "createMerchant",
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
