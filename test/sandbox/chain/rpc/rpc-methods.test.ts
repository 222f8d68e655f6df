import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { WebSocket } from "ws";
import { z } from "zod";
import { anvilBinary } from "../../../../sandbox/chain/anvil/anvil-binary.ts";
import { startAnvil } from "../../../../sandbox/chain/anvil/start-anvil.ts";
import { passedMethods, refusedMethods } from "../../../../sandbox/chain/rpc/methods/method-list.ts";
import type { Sandbox } from "../../../../sandbox/create-sandbox.ts";
import type { Fingerprint } from "../../../../sandbox/snapshots/fingerprint.ts";
import type { Snapshot } from "../../../../sandbox/snapshots/snapshot.ts";
import { ask } from "../../../ask.ts";
import { freshSandbox } from "../../../kit/fresh-sandbox.ts";
import { anvilMethods } from "./anvil-methods.ts";

let sandbox: Sandbox;
let start: Snapshot;
let rpc: string;
let before: Fingerprint;

beforeAll(async () => {
  sandbox = await freshSandbox();
  rpc = sandbox.description.urls.rpc;
  start = await sandbox.snapshot();
});

beforeEach(async () => {
  await start.restore();
  before = await sandbox.fingerprint();
});

const response = z.object({
  jsonrpc: z.literal("2.0"),
  id: z.union([z.int(), z.string(), z.null()]),
  result: z.unknown().optional(),
  error: z.object({ code: z.int(), message: z.string(), data: z.unknown().optional() }).optional(),
});

type Response = z.output<typeof response>;

/** Sends a body over HTTP. */
async function post(body: string, headers: { [name: string]: string } = {}) {
  return await ask(rpc, {
    method: "POST",
    headers: { "Content-Type": "application/json", ...headers },
    body,
  });
}

async function answerTo(body: string): Promise<Response> {
  return response.parse(JSON.parse((await post(body)).text));
}

async function openSocket(): Promise<WebSocket> {
  const socket = new WebSocket(rpc.replace("http", "ws"));
  onTestFinished(() => socket.terminate());
  await once(socket, "open");
  return socket;
}

/** Sends a message over a WebSocket and returns the next one. */
async function exchange(socket: WebSocket, message: string | Buffer): Promise<string> {
  const answered = once(socket, "message");
  socket.send(message);
  const [data] = await answered;
  return String(data);
}

/** The forms that params without a member can have, and some that Anvil takes for a wrapped value. */
const paramsForms = [
  "",
  ',"params":[]',
  ',"params":null',
  ',"params":{}',
  ',"params":["0x1"]',
  ',"params":[null]',
  ',"params":[{}]',
];

const call = (method: string, params = "") => `{"jsonrpc":"2.0","id":7,"method":"${method}"${params}}`;
const refused = refusedMethods.flatMap(({ methods, why, instead }) =>
  methods.map((method) => ({ method, why, instead })),
);

describe("every method of Anvil is on one list", () => {
  test("either passed on or refused, and the lists have no other", () => {
    const passed = passedMethods.flatMap(({ methods }) => Object.keys(methods));
    const listed = [...passed, ...refusedMethods.flatMap(({ methods }) => methods)];
    // Names that only Hardhat's clients use.
    const added = ["hardhat_snapshot", "hardhat_revert"];
    expect(listed.toSorted()).toEqual([...anvilMethods, ...added].toSorted());
  });

  test("which names only methods that Anvil knows", async () => {
    await using anvil = await startAnvil();
    for (const method of anvilMethods) {
      const { text } = await ask(anvil.url, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        // Three are too many for all of them but those that would take the chain away.
        body: call(method, ',"params":[[],[],[],[],[]]'),
      });
      const isKnown = response.parse(JSON.parse(text)).error?.code !== -32_601;
      expect([method, isKnown]).toEqual([method, !method.endsWith("subscribe")]);
    }
  });

  // Where the names are in the binary is the compiler's choice.
  test.runIf(process.platform === "linux" && process.arch === "x64")(
    "and the names that are together in its binary are all among them",
    async () => {
      const binary = (await readFile(anvilBinary())).toString("latin1");
      const [names = ""] = /eth_networkId[A-Za-z0-9_]+anvil_setFeeToken/.exec(binary) ?? [];
      // Nothing is between them.
      const separate = names.split(
        /(?<=[A-Za-z0-9])(?=(?:anvil|hardhat|evm|tenderly|eth|debug|trace|txpool|ots|erigon|personal|net)_)/,
      );
      expect(separate.length).toBeGreaterThan(100);
      expect(separate.filter((name) => !anvilMethods.includes(name))).toEqual([]);
    },
  );
});

describe("a refused method says why and what does it instead", () => {
  test.each(refused)("$method", async ({ method, why, instead }) => {
    const { status, text } = await post(call(method));
    expect([status, JSON.parse(text)]).toEqual([
      200,
      {
        jsonrpc: "2.0",
        id: 7,
        error: {
          code: -32_004,
          message: `${method} is refused because ${why}. ${instead}`,
          data: { method, instead },
        },
      },
    ]);
  });
});

describe("no form of a request gets a refused method to Anvil", () => {
  test.each(paramsForms)("not with %j, over HTTP or a WebSocket, alone or in a batch", async (params) => {
    const socket = await openSocket();
    for (const { method } of refused) {
      const body = call(method, params);
      const answers = [
        (await post(body)).text,
        JSON.stringify(z.array(z.unknown()).parse(JSON.parse((await post(`[${body}]`)).text))[0]),
        await exchange(socket, body),
        await exchange(socket, Buffer.from(body)),
      ];
      for (const text of answers)
        expect([method, response.parse(JSON.parse(text)).error?.code]).toEqual([method, -32_004]);
    }
    expect(await sandbox.fingerprint()).toEqual(before);
  });

  test("not as a named parameter, which Anvil would unwrap", async () => {
    for (const [method, params] of [
      ["anvil_reset", '{"params":{}}'],
      ["evm_mine", '{"params":{"timestamp":4000000000}}'],
      ["evm_mine_detailed", '{"params":{"timestamp":4000000000}}'],
    ])
      expect(await answerTo(call(String(method), `,"params":${params}`))).toMatchObject({
        error: { code: -32_600, message: "Invalid request: params must be an array." },
      });
    expect(await sandbox.fingerprint()).toEqual(before);
  });

  test.each([
    ["a name that JSON escapes", String.raw`{"jsonrpc":"2.0","id":7,"method":"\u0061nvil_reset"}`, -32_004],
    [
      "a member whose name JSON escapes",
      String.raw`{"jsonrpc":"2.0","id":7,"m\u0065thod":"anvil_rollback"}`,
      -32_004,
    ],
    [
      "the method twice",
      '{"jsonrpc":"2.0","id":7,"method":"eth_chainId","method":"anvil_rollback"}',
      -32_600,
    ],
    [
      "the method twice, the other way round",
      '{"jsonrpc":"2.0","id":7,"method":"anvil_rollback","method":"eth_chainId"}',
      -32_600,
    ],
    [
      "the method twice, once escaped",
      String.raw`{"jsonrpc":"2.0","id":7,"method":"eth_chainId","\u006dethod":"anvil_rollback"}`,
      -32_600,
    ],
    ["a call as an array", '["2.0","anvil_rollback",[],7]', -32_600],
    ["a batch of calls as arrays", '[["2.0","anvil_rollback",[],7]]', -32_600],
    ["a batch in a batch", '[[{"jsonrpc":"2.0","id":7,"method":"anvil_rollback"}]]', -32_600],
    ["one more member", '{"jsonrpc":"2.0","id":7,"method":"anvil_rollback","extra":1}', -32_600],
    ["another version", '{"jsonrpc":"1.0","id":7,"method":"anvil_rollback"}', -32_600],
    ["a method in an array", '{"jsonrpc":"2.0","id":7,"method":["anvil_rollback"]}', -32_600],
    ["params as a text", '{"jsonrpc":"2.0","id":7,"method":"eth_chainId","params":"[]"}', -32_600],
    ["an id that is a list", '{"jsonrpc":"2.0","id":[7],"method":"eth_chainId"}', -32_600],
    [
      "an id that no double keeps",
      '{"jsonrpc":"2.0","id":12345678901234567890,"method":"eth_chainId"}',
      -32_600,
    ],
    ["a byte order mark", '\uFEFF{"jsonrpc":"2.0","id":7,"method":"anvil_rollback"}', -32_600],
    [
      "an unpaired surrogate",
      String.raw`{"jsonrpc":"2.0","id":7,"method":"eth_chainId","params":["\ud800"]}`,
      -32_600,
    ],
    ["the name of a prototype", '{"jsonrpc":"2.0","id":7,"__proto__":{"method":"anvil_rollback"}}', -32_600],
    [
      "a hundred levels",
      `{"jsonrpc":"2.0","id":7,"method":"eth_chainId","params":${"[".repeat(100)}${"]".repeat(100)}}`,
      -32_600,
    ],
    ["a space behind the name", '{"jsonrpc":"2.0","id":7,"method":"anvil_rollback "}', -32_601],
    ["another case", '{"jsonrpc":"2.0","id":7,"method":"EVM_Snapshot"}', -32_601],
    ["a letter that only looks the same", '{"jsonrpc":"2.0","id":7,"method":"\u0435vm_snapshot"}', -32_601],
    ["a null character", String.raw`{"jsonrpc":"2.0","id":7,"method":"anvil_rollback\u0000"}`, -32_601],
    ["nothing", "", -32_600],
    ["no JSON", "nonsense", -32_600],
    ["null", "null", -32_600],
    ["an empty batch", "[]", -32_600],
    ["no method", '{"jsonrpc":"2.0","id":1}', -32_600],
    [
      "two values",
      '{"jsonrpc":"2.0","id":7,"method":"eth_chainId"} {"jsonrpc":"2.0","id":7,"method":"anvil_rollback"}',
      -32_600,
    ],
  ])("not as %s, over HTTP or a WebSocket", async (_, body, code) => {
    const socket = await openSocket();
    for (const text of [(await post(body)).text, await exchange(socket, body)]) {
      const answer: unknown = JSON.parse(text);
      const [one] = Array.isArray(answer) ? answer : [answer];
      expect(response.parse(one).error?.code).toBe(code);
    }
    expect(await sandbox.fingerprint()).toEqual(before);
  });

  test("not as bytes that are no UTF-8", async () => {
    const socket = await openSocket();
    const bytes = Buffer.concat([
      Buffer.from('{"jsonrpc":"2.0","id":7,"method":"anvil_rollback'),
      Buffer.from([0xff]),
      Buffer.from('"}'),
    ]);
    expect(JSON.parse(await exchange(socket, bytes))).toMatchObject({
      error: { code: -32_600, message: "Invalid request: The body is not valid UTF-8." },
    });
  });

  test("not as a hundred thousand levels, which are complete", async () => {
    const { text } = await post("[".repeat(100_000) + "]".repeat(100_000));
    expect(JSON.parse(text)).toMatchObject({
      error: { code: -32_600, message: "Invalid request: The body has more than 64 levels." },
    });
  });

  test("not as a notification, which does nothing, as in Anvil", async () => {
    const notification = '{"jsonrpc":"2.0","method":"evm_mine"}';
    const alone = await post(notification);
    expect([alone.status, alone.text]).toEqual([204, ""]);
    expect((await post(`[${notification}]`)).status).toBe(204);
    const answered = await post(`[${notification},${call("eth_chainId")}]`);
    expect(JSON.parse(answered.text)).toEqual([{ jsonrpc: "2.0", id: 7, result: "0x7a69" }]);
    expect(await sandbox.fingerprint()).toEqual(before);
  });

  test.each(["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "application/jsonp"])(
    "not as %s",
    async (type) => {
      const answer = await post(call("eth_chainId"), { "Content-Type": type });
      expect([answer.status, JSON.parse(answer.text)]).toEqual([
        415,
        {
          jsonrpc: "2.0",
          id: null,
          error: { code: -32_600, message: "Send the request as application/json." },
        },
      ]);
    },
  );

  test.each(["GET", "PUT", "PATCH", "DELETE"])("not with %s", async (method) => {
    const answer = await ask(`${rpc}/?method=anvil_rollback`, { method });
    expect([answer.status, answer.headers["allow"]]).toEqual([405, "POST, OPTIONS"]);
  });
});

test("what is no method of Anvil is said to be none, and the rest of its batch is answered", async () => {
  const answer = await post(`[${call("debug_setHead")},${call("eth_chainId")}]`);
  expect(JSON.parse(answer.text)).toEqual([
    {
      jsonrpc: "2.0",
      id: 7,
      error: {
        code: -32_601,
        message: 'The sandbox has no method "debug_setHead". docs/rpc.md lists those that it has.',
      },
    },
    { jsonrpc: "2.0", id: 7, result: "0x7a69" },
  ]);
});

test("numbers reach Anvil as they were written, even those that a double cannot represent", async () => {
  const address = "0x00000000000000000000000000000000000000ab";
  await post(call("anvil_setBalance", `,"params":["${address}",10000000000000000001]`));
  expect(await answerTo(call("eth_getBalance", `,"params":["${address}","latest"]`))).toMatchObject({
    result: "0x8ac7230489e80001",
  });
});

test("a batch of many calls of every kind is answered in its order", async () => {
  const calls = Array.from({ length: 300 }, (_, id) => {
    if (id % 50 === 7) return { jsonrpc: "2.0", id, method: "evm_mine" };
    if (id % 50 === 9) return { jsonrpc: "2.0", id, method: "no_such" };
    if (id % 10 === 3)
      return {
        jsonrpc: "2.0",
        id,
        method: "eth_call",
        params: [{ to: sandbox.description.contracts.token }],
      };
    return { jsonrpc: "2.0", id, method: "eth_blockNumber" };
  });
  const { number } = await sandbox.chain.client.getBlock();
  const socket = await openSocket();
  const texts = [(await post(JSON.stringify(calls))).text, await exchange(socket, JSON.stringify(calls))];
  for (const [round, text] of texts.entries()) {
    const answers = z.array(response).parse(JSON.parse(text));
    expect(answers.map(({ id }) => id)).toEqual(calls.map(({ id }) => id));
    const heights = answers
      .filter((_, index) => calls[index]?.method === "eth_blockNumber")
      .map(({ result }) => Number(result));
    const first = Number(number) + round * 6;
    expect([heights.at(0), heights.at(-1)]).toEqual([first, first + 6]);
    expect(heights).toEqual(heights.toSorted((left, right) => left - right));
  }
});

test("a WebSocket that asks for a subscription in a batch learns of it before its first notification", async () => {
  const socket = await openSocket();
  const messages: string[] = [];
  socket.on("message", (data) => messages.push(String(data)));
  const subscribe = '{"jsonrpc":"2.0","id":"s","method":"eth_subscribe","params":["newHeads"]}';
  socket.send(`[${subscribe},${call("evm_mine")},${call("eth_blockNumber")}]`);
  await expect.poll(() => messages.length).toBe(2);
  const [answers, notification] = messages.map((message) => JSON.parse(message));
  expect(answers).toMatchObject([{ id: "s", result: expect.stringMatching(/^0x/) }, { result: "0x0" }, {}]);
  expect(notification).toMatchObject({
    method: "eth_subscription",
    params: { subscription: answers[0].result, result: { number: answers[2].result } },
  });
  const overHttp = await answerTo(call("eth_subscribe", ',"params":["newHeads"]'));
  expect(overHttp.error?.message).toBe("eth_subscribe needs a WebSocket. Connect over ws://.");
});

describe("a subscription to logs has those that a subscription to Anvil itself has:", () => {
  const logger = "0x00000000000000000000000000000000000000ee";
  const [first, second] = ["11", "Ab"].map((byte) => `0x${byte.repeat(32)}`);

  test.each<[string, unknown, number]>([
    ["without a filter", undefined, 2],
    ["of null", null, 2],
    ["of an empty filter", {}, 2],
    ["of an empty list of addresses", { address: [] }, 2],
    ["of an address in capitals", { address: logger.replace("ee", "EE") }, 2],
    ["of two addresses", { address: [`0x${"12".repeat(20)}`, logger] }, 2],
    ["of another address", { address: `0x${"12".repeat(20)}` }, 0],
    ["of a first topic", { topics: [first] }, 1],
    ["of a second topic", { topics: [null, second] }, 1],
    ["of one of two topics", { topics: [[second, first]] }, 1],
    ["of any of a list with null", { topics: [[null, second]] }, 2],
    ["of an empty list of topics", { topics: [[], second] }, 1],
    ["of topics in the other order", { topics: [second, first] }, 0],
    ["of more topics than a log has", { topics: [first, second, first] }, 0],
    ["of more topics, any of them", { topics: [first, null, null] }, 1],
    ["from a later block", { fromBlock: "0xffff" }, 0],
    ["to a former block", { toBlock: "0x1" }, 0],
    ["to the latest block", { fromBlock: "earliest", toBlock: "latest" }, 2],
    ["of another block", { blockHash: first }, 0],
  ])("%s", async (_, filter, count) => {
    const own = new WebSocket(sandbox.chain.anvil.url.replace("http", "ws"));
    onTestFinished(() => own.terminate());
    await once(own, "open");
    const found: { asked: unknown[]; all: unknown[] }[] = [];
    for (const socket of [own, await openSocket()]) {
      const subscribe = async (params: unknown[]) =>
        JSON.parse(
          await exchange(socket, JSON.stringify({ jsonrpc: "2.0", id: 1, method: "eth_subscribe", params })),
        ).result;
      const asked = await subscribe(filter === undefined ? ["logs"] : ["logs", filter]);
      await subscribe(["logs", { address: logger }]);
      const logs = { asked: [] as unknown[], all: [] as unknown[] };
      found.push(logs);
      socket.on("message", (data) => {
        const { subscription, result } = JSON.parse(String(data)).params;
        (subscription === asked ? logs.asked : logs.all).push(result);
      });
    }
    // LOG2 with the two topics, then LOG0.
    const code = `0x7f${second?.slice(2)}7f${first?.slice(2)}60006000a260006000a000`;
    await answerTo(call("anvil_setCode", `,"params":["${logger}","${code}"]`));
    const from = sandbox.description.wallets["stranger"]?.address;
    await answerTo(call("eth_sendTransaction", `,"params":[{"from":"${from}","to":"${logger}"}]`));
    await expect
      .poll(() => found.map(({ asked, all }) => [asked.length, all.length]))
      .toEqual([
        [count, 2],
        [count, 2],
      ]);
    expect(found[1]).toEqual(found[0]);
  });
});
