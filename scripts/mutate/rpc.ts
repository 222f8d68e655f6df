import type { MutantGroup } from "./mutant.ts";

const rpc_ = "test/testbed/rpc.test.ts";
const listeners = "test/security/listeners.test.ts";

export const rpc: readonly MutantGroup[] = [
  {
    file: "sandbox/rpc/refused-calls.ts",
    tests: [rpc_],
    mutants: [
      {
        rule: "A call that moves the time of the chain alone is refused.",
        find: '["evm_setTime", time],',
        replace: "",
      },
      {
        rule: "A block at a time of its own is refused.",
        find: "const given = params[place] ?? 0;",
        replace: "const given = params[place + 1] ?? 0;",
      },
      {
        rule: "A batch with one refused call is refused whole.",
        find: "if (answers.every(({ instead }) => instead === null)) return null;",
        replace: "if (answers.some(({ instead }) => instead === null)) return null;",
      },
      {
        rule: "A block at an interval of zero is mined.",
        find: "/^0x0+$/.test(value)",
        replace: "/^0x0$/.test(value)",
      },
      {
        rule: "A call that is refused says what to do instead.",
        find: "would break the sandbox as one. ${instead}`",
        replace: "would break the sandbox as one.`",
      },
    ],
  },
  {
    file: "sandbox/rpc/facade.ts",
    tests: [rpc_],
    mutants: [
      {
        rule: "A body over two megabytes is refused, declared or not.",
        find: "if (length > largestBody) return null;",
        replace: "",
      },
      {
        rule: "A page that may call is told that it may read the answer.",
        find: 'response.setHeader("Access-Control-Allow-Origin", headers.origin)',
        replace: 'response.setHeader("Access-Control-Allow-Origin", "null")',
      },
      {
        rule: "A reorg waits for the block that is being made.",
        find: "if (call.toString().includes('\"anvil_reorg\"')) await this.#settle();",
        replace: "",
        tests: ["test/testbed/rpc-reorg.test.ts"],
      },
    ],
  },
  {
    file: "sandbox/http/callers.ts",
    tests: [listeners],
    mutants: [
      {
        rule: "A Host with another port is refused.",
        find: "asked === `${name}:${port}`",
        replace: "asked.startsWith(`${name}:`)",
        tests: [listeners, rpc_],
      },
      {
        rule: "A Host that is sent twice is refused.",
        find: "if (more.length > 0)",
        replace: "if (more.length > 1)",
        tests: [listeners, rpc_],
      },
      {
        rule: "A request whose target names another host is refused.",
        find: "if (target !== null && ",
        replace: "if (target !== null && port === 0 && ",
        tests: [listeners, rpc_],
      },
      {
        rule: "Only the control API's own pages change the sandbox.",
        find: "origin?.origin === `http://${host}`",
        replace: "isLocal(origin)",
      },
      {
        rule: "A page of another site changes nothing over the API.",
        find: 'method === "GET" || method === "HEAD" || isLocal(origin)',
        replace: 'method !== "DELETE" || isLocal(origin)',
      },
      {
        rule: "A browser extension may call the chain.",
        find: '"moz-extension:", ',
        replace: "",
        tests: [rpc_],
      },
      {
        rule: "A request of another site without an Origin is known by its Sec-Fetch-Site.",
        find: 'site === "none" || site === "same-origin" || followsLink',
        replace: "site.length > 0",
      },
    ],
  },
  {
    file: "sandbox/loans/loan-term.ts",
    tests: ["test/testbed/fixture.test.ts"],
    mutants: [
      {
        rule: "A test that is over gets no more of the sandbox.",
        find: "if (!this.#isOver) return;",
        replace: "if (call.length > 0) return;",
      },
      {
        rule: "What a test left under way ends before the next one begins.",
        find: "await Promise.all(this.#underWay);",
        replace: "",
      },
    ],
  },
  {
    file: "sandbox/loans/open-loans.ts",
    tests: ["test/testbed/fixture.test.ts"],
    mutants: [
      {
        rule: "Two tests of one worker cannot have the sandbox at once.",
        find: "if (isLent)",
        replace: "if (isLent && kept === null)",
      },
      {
        rule: "Every test starts from the same state.",
        find: "await start.restore();",
        replace: "",
      },
    ],
  },
];
