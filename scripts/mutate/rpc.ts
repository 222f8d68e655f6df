import type { MutantGroup } from "./mutant.ts";

const rpc_ = "test/sandbox/chain/rpc/rpc.test.ts";
const limits = "test/sandbox/chain/rpc/rpc-limits.test.ts";
const methods = "test/sandbox/chain/rpc/rpc-methods.test.ts";
const listeners = "test/security/listeners.test.ts";

export const rpc: readonly MutantGroup[] = [
  {
    file: "sandbox/chain/rpc/answer-request.ts",
    tests: [rpc_],
    mutants: [
      {
        rule: "Of a batch with a call that is refused nothing is run.",
        find: "refused ? planned.map(refuseWhole) : planned",
        replace: "refused ? planned : planned",
      },
      {
        rule: "A call waits while a snapshot is taken.",
        find: 'return await runShared(async () => await this.#ask(group));\n      case "send":',
        replace: 'return await this.#ask(group);\n      case "send":',
        tests: ["test/sandbox/state/snapshot.test.ts"],
        only: "waits until it is taken",
      },
      {
        rule: "A reorg that Anvil refuses is answered with what Anvil says.",
        find: "message: error.reason",
        replace: "message: error.message",
        tests: ["test/sandbox/chain/clock/reorg-time.test.ts"],
        only: "that Anvil refuses",
      },
      {
        rule: "Code that runs without a transaction has a time limit.",
        find: "await endsWithin(ran, until - performance.now())",
        replace: "await endsWithin(ran, 600_000)",
        tests: [limits],
        only: "fails after ten seconds",
      },
      {
        rule: "A call that ran out of gas says how much a call may use.",
        find: "return explainGas(answer);",
        replace: "return answer;",
        tests: [limits],
      },
      {
        rule: "A batch is answered as a batch.",
        find: "return request.isBatch ? writeBatch(responses) : (responses[0] ?? null);",
        replace: "return responses.length > 1 ? writeBatch(responses) : (responses[0] ?? null);",
        only: "a batch",
      },
    ],
  },
  {
    file: "sandbox/chain/rpc/methods/plan-call.ts",
    tests: [rpc_],
    mutants: [
      {
        rule: "A method that is not on the list is refused.",
        find: "if (!isPassed(method))",
        replace: "if (method.length === 0)",
        tests: [rpc_, methods],
      },
      {
        rule: "A call that moves the time of the chain alone is refused with what to do instead.",
        find: "if (refused !== undefined) return refuse(method, refused.why, refused.instead);",
        replace: "",
        tests: [rpc_, methods],
      },
      {
        rule: "A block at a time of its own is refused.",
        find: "(value) => value === 0n",
        replace: "(value) => value >= 0n",
        tests: [rpc_, methods],
      },
      {
        rule: "A call mines as many blocks as the most and no more.",
        find: "if (blocks > most)",
        replace: "if (blocks >= most)",
        tests: [limits],
        only: "as many as one call mines",
      },
      {
        rule: "A call that mines without a number mines one block.",
        find: "asked.data ?? 1n",
        replace: "asked.data ?? 2n",
        tests: [rpc_, methods],
      },
      {
        rule: "Every call that could take too long is brought within its limits.",
        find: "bounders.get(method)?.(params) ?? params",
        replace: "params",
        tests: [limits],
      },
    ],
  },
  {
    file: "sandbox/chain/rpc/methods/measure-trace.ts",
    tests: [limits],
    mutants: [
      {
        rule: "A trace that would take too much memory is refused.",
        find: "if (data.result <= mostTracedBytes) return null;",
        replace: "if (data.result >= 0) return null;",
      },
    ],
  },
  {
    file: "sandbox/chain/client/reorg-depth.ts",
    tests: ["test/sandbox/chain/rpc/rpc-reorg.test.ts"],
    mutants: [
      {
        rule: "A reorg takes no block that Anvil loaded.",
        find: "head - depth >= oldest &&",
        replace: "head - depth >= oldest - 1 &&",
      },
      {
        rule: "A reorg goes back to no block whose state Anvil has dropped.",
        find: " && (await keepsState(node, head - depth))",
        replace: "",
      },
    ],
  },
  {
    file: "sandbox/chain/rpc/methods/bound-call.ts",
    tests: [limits],
    mutants: [
      {
        rule: "A call may use so much gas and no more.",
        find: '...bound("gas", call.gas, mostGas)',
        replace: "",
      },
      {
        rule: "The calls of a simulation share what one call may use.",
        find: "const share = mostGas / BigInt(Math.max(count, 1));",
        replace: "const share = mostGas;",
      },
      {
        rule: "A block may not use more gas than a call.",
        find: "if (gas > mostGas)",
        replace: "if (gas > 2n * mostGas)",
      },
      {
        rule: "A tracer that Anvil would run as JavaScript is refused.",
        find: "if (tracer !== null && !tracers.has(tracer))",
        replace: "if (tracer !== null && tracer.length === 0)",
      },
      {
        rule: "A base fee that Anvil cannot keep is refused.",
        find: "if (fee > maxUint64)",
        replace: "if (fee > 2n * maxUint64)",
      },
      {
        rule: "A fee for blobs in a transaction that is not signed is refused.",
        find: "if (maxFeePerBlobGas !== undefined && maxFeePerBlobGas !== null)",
        replace: 'if (maxFeePerBlobGas === "")',
      },
      {
        rule: "Half a delegation is no code.",
        find: "&& !/^0xef0100[0-9a-f]{40}$/i.test(code)",
        replace: "&& !/^0xef01/i.test(code)",
      },
      {
        rule: "The history of fees has so many blocks at most.",
        find: "toHex(asked < mostFeeBlocks ? asked : mostFeeBlocks)",
        replace: "toHex(asked)",
      },
      {
        rule: "A gas limit below the most is passed on.",
        find: "toHex(asked < most ? asked : most)",
        replace: "toHex(most)",
        only: "a gas limit below",
      },
    ],
  },
  {
    file: "sandbox/chain/rpc/front.ts",
    tests: [rpc_],
    mutants: [
      {
        rule: "A body over two megabytes is refused, declared or not.",
        find: "destroyOnReturn: false }), largestBody)",
        replace: "destroyOnReturn: false }), Number.POSITIVE_INFINITY)",
      },
      {
        rule: "The chain RPC takes JSON only.",
        find: "if (!/^application\\/json\\s*(?:;|$)/i.test(type))",
        replace: "if (type.length > 1_000)",
        only: "said to be",
      },
    ],
  },
  {
    file: "sandbox/chain/rpc/cors.ts",
    tests: [rpc_],
    mutants: [
      {
        rule: "A page that may call gets the header that lets it read the answer.",
        find: 'response.setHeader("Access-Control-Allow-Origin", headers.origin)',
        replace: 'response.setHeader("Access-Control-Allow-Origin", "null")',
      },
    ],
  },
  {
    file: "sandbox/lib/http/host-and-origin.ts",
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
        tests: ["test/security/http-edge.test.ts"],
        only: "two Host headers",
      },
      {
        rule: "A request whose target names another host is refused.",
        find: "if (target !== null && ",
        replace: "if (target !== null && port === 0 && ",
        tests: ["test/security/http-edge.test.ts"],
        only: "absolute form",
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
        tests: ["test/sandbox/hosts/explorer/stream.test.ts"],
        only: "is refused to",
      },
    ],
  },
  {
    file: "testkit/pool/lease-guard.ts",
    tests: ["test/testkit/fixture.test.ts"],
    mutants: [
      {
        rule: "A test that is over gets no more of the sandbox.",
        find: "if (this.isOver) throw",
        replace: "if (call.length === 0) throw",
      },
      {
        rule: "Calls that a test left in progress end before the next test begins.",
        find: "await Promise.all(this.#underWay);",
        replace: "",
      },
    ],
  },
  {
    file: "testkit/pool/pool.ts",
    tests: ["test/testkit/fixture.test.ts"],
    mutants: [
      {
        rule: "Two tests of one worker cannot have the sandbox at once.",
        find: 'if (state !== "free")',
        replace: 'if (state !== "free" && kept === null)',
      },
      {
        rule: "Every test starts from the same state.",
        find: "await kept.skipWaitsDuring(async () => await kept.start.restore());",
        replace: "",
      },
    ],
  },
  {
    file: "sandbox/lib/time/waits.ts",
    tests: ["test/testkit/fixture.test.ts"],
    mutants: [
      {
        rule: "The end of a test ends the waits that hold its requests.",
        find: "this.#end.abort();",
        replace: "",
      },
      {
        rule: "After the end of a test, waits are as long as ever.",
        find: "if (this.#skipping === 0)",
        replace: "if (this.#skipping < 0)",
      },
    ],
  },
];
