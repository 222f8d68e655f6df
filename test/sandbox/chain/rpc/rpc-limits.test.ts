import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { request } from "node:http";
import type { Hex } from "viem";
import { beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { WebSocket } from "ws";
import { z } from "zod";
import type { Sandbox } from "../../../../sandbox/create-sandbox.ts";
import type { Snapshot } from "../../../../sandbox/snapshots/snapshot.ts";
import { ask } from "../../../ask.ts";
import { freshSandbox } from "../../../kit/fresh-sandbox.ts";
import { stopProcess } from "../../../kit/stop-process.ts";

/** JUMPDEST, PUSH0, JUMP: until its gas is used up. */
const loop = "0x5b5f56";
const looping = "0x00000000000000000000000000000000000010fe";
const empty = "0x00000000000000000000000000000000000000e0";
/** Hours of looping. */
const hugeGas = "0xffffffffffffff";
const override = { [empty]: { code: loop } };
const most = 60_000_000n;

let sandbox: Sandbox;
let start: Snapshot;
let rpc: string;

beforeAll(async () => {
  sandbox = await freshSandbox();
  rpc = sandbox.description.urls.rpc;
  await sandbox.chain.client.setCode({ address: looping, bytecode: loop });
  await sandbox.chain.client.mine({ blocks: 2 });
  start = await sandbox.snapshot();
});

beforeEach(async () => await start.restore());

const response = z.object({
  id: z.int().nullable(),
  result: z.unknown().optional(),
  error: z.object({ code: z.int(), message: z.string() }).optional(),
});

type Response = z.output<typeof response>;

const callOf = (method: string, params: readonly unknown[], id = 7) => ({
  jsonrpc: "2.0",
  id,
  method,
  params,
});

async function post(body: unknown): Promise<unknown> {
  const headers = { "Content-Type": "application/json" };
  return JSON.parse((await ask(rpc, { method: "POST", headers, body: JSON.stringify(body) })).text);
}

async function call(method: string, params: readonly unknown[] = []): Promise<Response> {
  return response.parse(await post(callOf(method, params)));
}

/** A body of many small values, each of which takes much memory once it is parsed. */
const listOf = (value: string, count: number) => `[${`${value},`.repeat(count - 1)}${value}]`;

test.each([
  ["1", 1_000_000, "A request has at most 250000 values. Send several requests."],
  ["{}", 250_001, "A request has at most 250000 values. Send several requests."],
  ["[]", 50_001, "A batch has at most 50000 calls, and this one has 50001. Send several batches."],
])("a batch of %s, %d times, is refused as a whole", async (value, count, message) => {
  const headers = { "Content-Type": "application/json" };
  const refusal = { jsonrpc: "2.0", id: null, error: { code: -32_005, message } };
  const body = listOf(value, count);
  expect(JSON.parse((await ask(rpc, { method: "POST", headers, body })).text)).toEqual(refusal);
  const one = `{"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":${listOf(value, 250_001)}}`;
  const { text } = await ask(rpc, { method: "POST", headers, body: one });
  expect(JSON.parse(text).error).toMatchObject({
    code: -32_005,
    message: expect.stringContaining("250000 values"),
  });
});

/** The chain reads, runs and mines for others. */
async function expectAlive(): Promise<void> {
  const { token } = sandbox.description.contracts;
  const height = Number((await call("eth_blockNumber")).result);
  expect((await call("eth_call", [{ to: token, data: "0x06fdde03" }])).result).toMatch(/^0x/);
  expect((await call("evm_mine")).result).toBe("0x0");
  // A transaction that is asked for meanwhile may have been mined in a block of its own.
  expect(Number((await call("eth_blockNumber")).result)).toBeGreaterThan(height);
}

describe("the gas of a call:", () => {
  test.each<[string, string, unknown[]]>([
    ["eth_call", "with gas in hexadecimal", [{ to: looping, gas: hugeGas }]],
    ["eth_call", "with gas in capitals", [{ to: looping, gas: "0XFFFFFFFFFFFFFF" }]],
    ["eth_call", "with gas in decimals", [{ to: looping, gas: "72057594037927935" }]],
    ["eth_call", "with gas as a number", [{ to: looping, gas: 2 ** 52 }]],
    ["eth_call", "with gas beyond 64 bits", [{ to: looping, gas: `0x${"f".repeat(64)}` }]],
    ["eth_call", "on the pending block", [{ to: looping, gas: hugeGas }, "pending"]],
    ["eth_call", "of overridden code", [{ to: empty, gas: hugeGas }, "latest", override]],
    ["eth_call", "in a block of overridden gas", [{ to: looping }, "latest", {}, { gasLimit: hugeGas }]],
    ["eth_call", "that creates a contract", [{ data: loop, gas: hugeGas }]],
    ["eth_createAccessList", "with gas in hexadecimal", [{ to: looping, gas: hugeGas }]],
  ])(
    "an endless loop ends at the gas limit of a call, even if the call asks for more, and other calls are answered meanwhile (%s %s)",
    async (method, _, params) => {
      const [answer] = await Promise.all([call(method, params), expectAlive()]);
      expect(answer.error).toEqual({
        code: -32_603,
        message: `EVM error OutOfGas. A call may use ${most} gas at most.`,
      });
      await expectAlive();
    },
  );

  test("eth_call at an earlier block ends at the same gas", async () => {
    const { number } = await sandbox.chain.client.getBlock();
    const earlier = `0x${(number - 1n).toString(16)}`;
    const [answer] = await Promise.all([
      call("eth_call", [{ to: looping, gas: hugeGas }, earlier]),
      expectAlive(),
    ]);
    expect(answer.error?.message).toBe(`EVM error OutOfGas. A call may use ${most} gas at most.`);
  });

  test.each<[string, unknown[]]>([
    ["with gas in hexadecimal", [{ to: looping, gas: hugeGas }]],
    ["of overridden code", [{ to: empty, gas: hugeGas, data: "0x00" }, "latest", override]],
    ["in a block of overridden gas", [{ to: looping }, "latest", {}, { gasLimit: hugeGas }]],
  ])("eth_estimateGas %s ends at the same gas", async (_, params) => {
    const [answer] = await Promise.all([call("eth_estimateGas", params), expectAlive()]);
    expect(answer.error).toEqual({
      code: -32_003,
      message: `Out of gas: gas required exceeds allowance: ${most}. A call may use ${most} gas at most.`,
    });
  });

  test("eth_simulateV1 ends at the same gas, which its calls share", async () => {
    const calls = Array.from({ length: 10 }, () => ({ to: empty, gas: hugeGas }));
    const blockOverrides = { gasLimit: hugeGas };
    const blocks = Array.from({ length: 4 }, () => ({ stateOverrides: override, blockOverrides, calls }));
    const [answer] = await Promise.all([
      call("eth_simulateV1", [{ blockStateCalls: blocks }, "latest"]),
      expectAlive(),
    ]);
    const simulated = z
      .array(z.object({ calls: z.array(z.object({ status: z.string(), gasUsed: z.string() })) }))
      .parse(answer.result)
      .flatMap((block) => block.calls);
    expect(simulated.map(({ status }) => status)).toEqual(simulated.map(() => "0x0"));
    expect(simulated.reduce((sum, { gasUsed }) => sum + BigInt(gasUsed), 0n)).toBe(most);
  });

  test("debug_traceCall ends at less gas", { tags: "thorough" }, async () => {
    const params = [{ to: looping, gas: hugeGas }, "latest", { tracer: "callTracer" }];
    const [answer] = await Promise.all([call("debug_traceCall", params), expectAlive()]);
    expect(answer.result).toMatchObject({ gasUsed: "0x493e0", error: "out of gas" });
  });

  test.each(["eth_sendTransaction", "eth_signTransaction", "eth_fillTransaction"])(
    "%s without a gas limit, which is estimated, is answered",
    async (method) => {
      const from = sandbox.wallets.buyer.address;
      const [answer] = await Promise.all([call(method, [{ from, to: looping }]), expectAlive()]);
      expect(answer.error?.code ?? answer.result).toBeDefined();
    },
  );

  test("an endless loop over a WebSocket ends and holds up no other call", async () => {
    const socket = new WebSocket(rpc.replace("http", "ws"));
    onTestFinished(() => socket.terminate());
    await once(socket, "open");
    const answers: Response[] = [];
    socket.on("message", (data) => answers.push(response.parse(JSON.parse(String(data)))));
    socket.send(JSON.stringify(callOf("eth_call", [{ to: looping, gas: hugeGas }], 1)));
    socket.send(JSON.stringify(callOf("eth_blockNumber", [], 2)));
    await expect.poll(() => answers.length).toBe(2);
    // The loop holds up no other call, not even the next one of its own socket.
    expect(answers.map(({ id }) => id)).toEqual([2, 1]);
    expect(answers[1]?.error?.message).toContain("OutOfGas");
  });

  test("other calls are answered after the caller of an endless loop has disconnected", async () => {
    const body = JSON.stringify(callOf("eth_call", [{ to: looping, gas: hugeGas }]));
    const leaving = request(rpc, {
      method: "POST",
      agent: false,
      headers: { "Content-Type": "application/json" },
    });
    leaving.on("error", () => {});
    leaving.end(body);
    await once(leaving, "finish");
    leaving.destroy();
    await expectAlive();
  });
});

describe("a request of many calls:", () => {
  test("calls of a batch that have not begun are not run once its caller has disconnected", async () => {
    const height = async () => Number((await call("eth_blockNumber")).result);
    const before = await height();
    const loops = Array.from({ length: 20 }, () => callOf("eth_call", [{ to: looping, gas: hugeGas }]));
    const body = JSON.stringify([callOf("evm_mine", []), ...loops, callOf("evm_mine", [])]);
    const headers = { "Content-Type": "application/json" };
    const asking = request(rpc, { method: "POST", headers, agent: false });
    asking.once("error", () => {}).end(body);
    await expect.poll(height).toBe(before + 1);
    asking.destroy();
    // It gets its turn after the loop that runs, and before the next one if there is one.
    for (let turns = 0; turns < 3; turns += 1) await expectAlive();
    expect(await height()).toBe(before + 4);
  });
});

describe("the number of what a caller keeps in Anvil:", () => {
  test("a WebSocket has at most 100 subscriptions, and others when some have ended", async () => {
    const socket = new WebSocket(rpc.replace("http", "ws"));
    onTestFinished(() => socket.terminate());
    await once(socket, "open");
    const exchange = async (calls: unknown): Promise<Response[]> => {
      const answered = once(socket, "message");
      socket.send(JSON.stringify(calls));
      const [text] = await answered;
      return z.array(response).parse(JSON.parse(String(text)));
    };
    const subscribe = (id: number) => callOf("eth_subscribe", ["logs", {}], id);
    const warned = vi.fn();
    process.on("warning", warned);
    onTestFinished(() => void process.off("warning", warned));
    const answers = await exchange(Array.from({ length: 101 }, (_, id) => subscribe(id)));
    expect(answers.filter(({ error }) => error === undefined)).toHaveLength(100);
    expect(answers[100]?.error).toEqual({
      code: -32_005,
      message:
        "A WebSocket has at most 100 subscriptions. End those that are no longer used (eth_unsubscribe).",
    });
    const again = await exchange([callOf("eth_unsubscribe", [answers[0]?.result]), subscribe(1)]);
    expect(again.map(({ error }) => error)).toEqual([undefined, undefined]);
    // Not in a batch, whose calls come one after the other.
    let answered = 0;
    socket.on("message", () => {
      answered += 1;
    });
    for (let id = 0; id < 20; id += 1) socket.send(JSON.stringify(subscribe(id)));
    await expect.poll(() => answered).toBe(20);
    expect(warned).not.toHaveBeenCalled();
  });

  const all = async (method: string, params: readonly (readonly unknown[])[]) =>
    z.array(response).parse(await post(params.map((each, id) => callOf(method, each, id))));
  const make = async (count: number) =>
    await all(
      "eth_newFilter",
      Array.from({ length: count }, () => [{ fromBlock: "0x0" }]),
    );
  const results = (answers: readonly Response[]) =>
    answers.flatMap(({ error, result }) => (error === undefined ? [result] : []));

  test("there are at most 200 filters, and others when some are removed", async () => {
    const answers = await make(201);
    const made = results(answers);
    expect([made.length, answers.at(-1)?.error]).toEqual([
      200,
      {
        code: -32_005,
        message:
          "There are 200 filters. Remove those that are no longer used (eth_uninstallFilter), or subscribe over a WebSocket.",
      },
    ]);
    const removed = await all(
      "eth_uninstallFilter",
      made.map((id) => [id]),
    );
    expect(results(removed)).toEqual(made.map(() => true));
    const [more] = results(await make(1));
    expect((await call("eth_getFilterChanges", [more])).error).toBeUndefined();
  });

  test("filters that are not used after a restore make room for others", async () => {
    const [used, unused] = results(await make(200));
    await start.restore();
    expect((await call("eth_getFilterChanges", [used])).error).toBeUndefined();
    expect(results(await make(200))).toHaveLength(199);
    expect((await call("eth_getFilterChanges", [used])).error).toBeUndefined();
    expect((await call("eth_getFilterChanges", [unused])).error?.message).toBe("filter not found");
  });

  test("filters begin with 64 MiB of logs at most, together", async () => {
    // LOG0 with 16 KiB of zeros, 60 times.
    const code = `0x${"6140006000a0".repeat(60)}00`;
    const logger = "0x00000000000000000000000000000000000000ee";
    await call("anvil_setCode", [logger, code]);
    const from = sandbox.description.wallets["stranger"]?.address;
    await call("eth_sendTransaction", [{ from, to: logger, gas: "0x1c9c380" }]);
    await call("evm_mine");
    const makeOne = async (address = logger) => await call("eth_newFilter", [{ address, fromBlock: "0x0" }]);
    const answers = [await makeOne()];
    while (answers.at(-1)?.error === undefined) answers.push(await makeOne());
    const made = results(answers);
    const message =
      "Filters may begin with 67108864 bytes of logs together. Begin at a later block, and read the logs before it with eth_getLogs, or remove filters that are no longer used (eth_uninstallFilter).";
    expect(answers.at(-1)?.error).toEqual({ code: -32_005, message });
    expect(made.length).toBeGreaterThan(20);
    expect(made.length).toBeLessThan(40);
    // Not run, because the answers before it are too large.
    const logs = Array.from({ length: 40 }, (_, id) =>
      callOf("eth_getLogs", [{ address: logger, fromBlock: "0x0" }], id),
    );
    const tooMuch = await post([...logs, callOf("eth_getFilterChanges", [made[0]], 40)]);
    expect(z.array(response).parse(tooMuch).at(-1)?.error?.code).toBe(-32_005);
    expect((await makeOne()).error?.message).toBe(message);
    // Anvil has returned what it had kept.
    expect((await call("eth_getFilterChanges", [made[0]])).result).toHaveLength(60);
    expect((await makeOne()).error).toBeUndefined();
    expect((await makeOne()).error?.message).toBe(message);
    expect((await makeOne(empty)).error).toBeUndefined();
  });

  const slots = (length: number) =>
    Array.from({ length }, (_, slot) => `0x${slot.toString(16).padStart(64, "0")}`);
  test.each<[string, unknown[], string]>([
    [
      "eth_feeHistory",
      ["0x1", "latest", Array.from({ length: 101 }, (_, index) => index / 2)],
      "A history of fees has at most 100 percentiles, not 101. Ask for fewer.",
    ],
    [
      "eth_getProof",
      [empty, slots(1_025), "latest"],
      "A call reads at most 1024 slots of storage, not 1025. Read them with several calls.",
    ],
    [
      "eth_getStorageValues",
      [{ [empty]: slots(513), [looping]: slots(512) }, "latest"],
      "A call reads at most 1024 slots of storage, not 1025. Read them with several calls.",
    ],
  ])("%s asks for more than there may be, and is refused", async (method, params, message) => {
    expect((await call(method, params)).error).toEqual({ code: -32_602, message });
  });

  test.each<[string, unknown[]]>([
    ["eth_feeHistory", ["0x1", "latest", Array.from({ length: 100 }, (_, index) => index)]],
    ["eth_getProof", [empty, slots(1_024), "latest"]],
    ["eth_getStorageValues", [{ [empty]: slots(1_024) }, "latest"]],
  ])("%s asks for as much as there may be, and gets it", async (method, params) => {
    expect((await call(method, params)).error).toBeUndefined();
  });
});

describe("calls that no gas limits:", () => {
  test.each<[string, unknown[], string]>([
    [
      "debug_traceCall",
      [{ to: looping }, "latest", { tracer: "{step(){for(;;);},fault(){},result(){}}" }],
      "Anvil has no tracer of this name, and one in JavaScript",
    ],
    [
      "debug_traceTransaction",
      [`0x${"00".repeat(32)}`, { tracer: "for(;;);" }],
      "Anvil has no tracer of this name, and one in JavaScript",
    ],
    [
      "debug_traceBlockByNumber",
      ["latest", { tracer: "for(;;);" }],
      "Anvil has no tracer of this name, and one in JavaScript",
    ],
    [
      "debug_traceBlockByHash",
      [`0x${"00".repeat(32)}`, { tracer: "for(;;);" }],
      "Anvil has no tracer of this name, and one in JavaScript",
    ],
    ["debug_traceCall", [{ to: looping }, "latest"], "A trace of every step"],
    ["debug_traceCall", [{ to: looping }, "latest", { enableMemory: true }], "A trace of every step"],
    ["trace_replayBlockTransactions", ["latest", ["trace", "vmTrace"]], "The kinds of trace"],
    ["trace_replayBlockTransactions", ["latest"], "The kinds of trace"],
  ])("%s %j is refused", async (method, params, reason) => {
    expect((await call(method, params)).error).toEqual({
      code: -32_602,
      message: expect.stringContaining(reason),
    });
  });

  test.each<[string, unknown[], string]>([
    ["eth_call", [[null, looping, null, null, null, null, hugeGas]], "a transaction object"],
    ["eth_call", [], "a transaction object"],
    ["eth_call", [{ to: looping, gas: "lots" }], "A gas limit must be a whole number"],
    ["eth_call", [{ to: looping, gas: -1 }], "A gas limit must be a whole number"],
    ["eth_call", [{ to: looping, gas: { hex: hugeGas } }], "A gas limit must be a whole number"],
    [
      "eth_call",
      [{ to: looping }, "latest", {}, [null, null, null, hugeGas]],
      "Block overrides must be an object",
    ],
    ["eth_simulateV1", [[[{ calls: [{ to: looping, gas: hugeGas }] }]]], "an object with blockStateCalls"],
    [
      "eth_simulateV1",
      [{ blockStateCalls: [[null, null, [{ to: looping, gas: hugeGas }]]] }],
      "an object with blockStateCalls",
    ],
    [
      "eth_simulateV1",
      [{ blockStateCalls: [{ calls: [[null, looping]] }] }],
      "an object with blockStateCalls",
    ],
    [
      "debug_traceCall",
      [{ to: looping }, "latest", ["callTracer"]],
      "The options of a trace must be an object",
    ],
  ])(
    "%s with params in another form, whose gas could not be found, is refused: %j",
    async (method, params, reason) => {
      expect((await call(method, params)).error).toEqual({
        code: -32_602,
        message: expect.stringContaining(reason),
      });
      await expectAlive();
    },
  );
});

test.runIf(process.platform === "linux")(
  "a trace whose inner calls would copy more input than it may is refused, and Anvil takes no memory for it",
  async () => {
    // Expands its memory to 216 KiB and calls an empty account with all of it, until its gas is used up.
    const code = "0x600062035fe0525b60006000620360006000600061dead5af150600756";
    const { pid } = sandbox.chain.anvil;
    const peak = async () =>
      Number(/VmHWM:\s+(\d+) kB/.exec(await readFile(`/proc/${pid}/status`, "utf8"))?.[1]) / 1_024;
    const before = await peak();
    const options = { tracer: "callTracer", stateOverrides: { [empty]: { code } } };
    const answer = await call("debug_traceCall", [{ to: empty, gas: hugeGas }, "latest", options]);
    expect(answer.error).toEqual({
      code: -32_602,
      message:
        "The inner calls of a trace may have 4194304 bytes of input together, not 268296192. Trace a call that passes less on.",
    });
    expect((await peak()) - before).toBeLessThan(100);
    await expectAlive();
  },
);

test("a call of the sandbox's own contracts is traced within the gas of a trace", async () => {
  const { merchant } = sandbox.wallets;
  const { token } = sandbox.description.contracts;
  const data = `0x095ea7b3${merchant.address.slice(2).padStart(64, "0")}${"1".padStart(64, "0")}`;
  const params = [{ from: merchant.address, to: token, data }, "latest", { tracer: "callTracer" }];
  const { result } = await call("debug_traceCall", params);
  expect(result).toMatchObject({ type: "CALL", output: `0x${"1".padStart(64, "0")}` });
  expect(result).not.toHaveProperty("error");
});

describe("values that would end Anvil:", () => {
  const tooMuch = [`0x1${"0".repeat(16)}`, "18446744073709551616", `0X${"f".repeat(64)}`];
  const account = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266";
  const blobs = { from: account, to: empty, maxFeePerBlobGas: "0x1" };

  test.each(["anvil_setNextBlockBaseFeePerGas", "hardhat_setNextBlockBaseFeePerGas"])(
    "%s above 64 bits is refused, and the chain continues",
    async (method) => {
      for (const fee of tooMuch)
        expect((await call(method, [fee])).error).toEqual({
          code: -32_602,
          message: `The base fee ${BigInt(fee.toLowerCase())} is above 18446744073709551615 wei, the most that Anvil can keep. Set a lower one.`,
        });
      expect((await call(method, [2 ** 64])).error).toEqual({
        code: -32_602,
        message: "params must be one base fee in wei.",
      });
      expect((await call(method, [`0x${"f".repeat(16)}`])).result).toBeNull();
      await expectAlive();
    },
  );

  test.each([
    "eth_sendTransaction",
    "eth_sendTransactionSync",
    "eth_sendUnsignedTransaction",
    "eth_signTransaction",
    "eth_fillTransaction",
    "anvil_reorg",
  ])("%s of a transaction with a fee for blobs is refused, and the chain continues", async (method) => {
    const params = method === "anvil_reorg" ? [1, [[blobs, 0]]] : [blobs];
    expect((await call(method, params)).error).toEqual({
      code: -32_602,
      message:
        "A transaction with maxFeePerBlobGas is taken only when it is signed. Leave it out, or send the signed one with eth_sendRawTransaction.",
    });
    await expectAlive();
  });

  test.each(["0x76", 118, "118"])(
    "eth_simulateV1 of a transaction of type %j is refused, and the chain continues",
    async (type) => {
      const params = [{ blockStateCalls: [{ calls: [{ from: account, to: empty, type }] }] }, "latest"];
      expect((await call("eth_simulateV1", params)).error).toEqual({
        code: -32_602,
        message: "Ethereum has no transaction of type 118. Use one of 0 to 4.",
      });
      await expectAlive();
    },
  );

  /** Types of which each one has three members of the next one. */
  const fanOut = (depth: number) =>
    Object.fromEntries(
      Array.from({ length: depth }, (_, at) => [
        `T${at}`,
        ["a", "b", "c"].map((name) => ({ name, type: at + 1 === depth ? "uint8" : `T${at + 1}` })),
      ]),
    );
  const tooManyStructs =
    "The types of typed data have at most 1000 structs, each one counted wherever it occurs in another one. Use fewer.";
  const tooLong =
    "The second of params must be typed data: an object with types and primaryType, whose names have at most 500 characters.";
  test.each([
    ["whose types fan out", fanOut(40), tooManyStructs],
    ["whose types fan out a little less", fanOut(7), tooManyStructs],
    [
      "of thousands of types",
      Object.fromEntries(Array.from({ length: 5_000 }, (_, at) => [`T${at}`, []])),
      tooManyStructs,
    ],
    ["with thousands of brackets", { T0: [{ name: "a", type: `uint8${"[]".repeat(50_000)}` }] }, tooLong],
    ["with thousands of parentheses", { T0: [{ name: "a", type: "(".repeat(50_000) }] }, tooLong],
    ["with thousands of brackets in a name", { [`T0${"[]".repeat(50_000)}`]: [], T0: [] }, tooLong],
  ])("typed data %s is refused, and the chain continues", async (_, types, message) => {
    const data = { types, primaryType: "T0", domain: {}, message: {} };
    for (const sent of [data, JSON.stringify(data)])
      expect((await call("eth_signTypedData_v4", [account, sent])).error).toEqual({ code: -32_602, message });
    await expectAlive();
  });

  test("typed data with types as they are in use is signed", async () => {
    const types = { EIP712Domain: [], ...fanOut(3) };
    const leaf = { a: 1, b: 2, c: 3 };
    const [a, b, c] = Array.from({ length: 3 }, () => ({ a: leaf, b: leaf, c: leaf }));
    const data = { types, primaryType: "T0", domain: {}, message: { a, b, c } };
    for (const sent of [data, JSON.stringify(data)])
      expect((await call("eth_signTypedData_v4", [account, sent])).result).toMatch(/^0x[0-9a-f]{130}$/);
  });

  test.each(["anvil_setCode", "hardhat_setCode"])(
    "%s of half a delegation is refused, and the chain continues",
    async (method) => {
      const delegation = `0xef0100${"11".repeat(20)}`;
      for (const code of ["0xef01", "0xEF0100", "0xef0101", delegation.slice(0, -2), `${delegation}11`])
        expect((await call(method, [empty, code])).error).toEqual({
          code: -32_602,
          message:
            "Code that begins with 0xef01 must be a delegation: 0xef0100 and an address. Set other code.",
        });
      expect((await call(method, [empty, delegation])).result).toBeNull();
      await expectAlive();
    },
  );

  test("eth_feeHistory of more blocks than 64 bits can count shows 1,024 at most, and the chain continues", async () => {
    for (const count of tooMuch)
      expect((await call("eth_feeHistory", [count, "latest", []])).result).toHaveProperty(
        "oldestBlock",
        "0x0",
      );
    await expectAlive();
  });
});

describe("tracers:", () => {
  test.each(["debug_traceCall", "debug_traceTransaction"])(
    "%s refuses a tracer that Anvil does not have and names those that it has",
    async (method) => {
      for (const tracer of ["flatCallTracer", "muxTracer", "4byteTracer"]) {
        const subject = method === "debug_traceCall" ? [{ to: empty }, "latest"] : [`0x${"00".repeat(32)}`];
        expect((await call(method, [...subject, { tracer }])).error).toEqual({
          code: -32_602,
          message:
            "Anvil has no tracer of this name, and one in JavaScript could run without an end. Use one of callTracer, prestateTracer, noopTracer.",
        });
      }
      for (const tracer of ["callTracer", "prestateTracer", "noopTracer"])
        expect(await call("debug_traceCall", [{ to: empty }, "latest", { tracer }])).toHaveProperty("result");
    },
  );
});

describe("a number of blocks that cannot be read:", () => {
  test.each([
    ["anvil_mine", "[0.1]", 9_999],
    ["hardhat_mine", "[1e400]", 9_999],
    ["anvil_mine", "[9007199254740993]", 9_999],
    ["evm_mine", '[{"blocks":0.1}]', 9_999],
    ["evm_mine_detailed", '[{"blocks":1e400}]', 100],
  ])("%s %s is refused for what it is", async (method, params, limit) => {
    const headers = { "Content-Type": "application/json" };
    const body = `{"jsonrpc":"2.0","id":7,"method":"${method}","params":${params}}`;
    expect(JSON.parse((await ask(rpc, { method: "POST", headers, body })).text)).toEqual({
      jsonrpc: "2.0",
      id: 7,
      error: {
        code: -32_602,
        message: `The number of blocks must be a whole number of at most ${limit}, as in "0x2".`,
      },
    });
  });
});

describe("the gas of a transaction:", () => {
  test.each(["evm_setBlockGasLimit", "anvil_setBlockGasLimit"])(
    "%s takes the most that a block may have and no more",
    async (method) => {
      for (const gas of [`0x${(most + 1n).toString(16)}`, Number(most) + 1, String(most + 1n), hugeGas])
        expect((await call(method, [gas])).error).toEqual({
          code: -32_602,
          message: `The block gas limit ${BigInt(gas)} is above ${most}, so that one transaction could keep the chain busy. Set a lower one.`,
        });
      expect((await call(method, [{}])).error?.code).toBe(-32_602);
      expect((await call(method, [Number(most)])).result).toBe(true);
    },
  );

  test("a transaction that asks for more than the gas of a block is refused, however it is sent", async () => {
    const from = sandbox.wallets.buyer.address;
    for (const method of ["eth_sendTransaction", "eth_sendTransactionSync", "eth_sendUnsignedTransaction"])
      expect((await call(method, [{ from, to: looping, gas: hugeGas }])).error?.message).toContain(
        "tx.gas_limit > env.block.gas_limit",
      );
    await expectAlive();
  });

  test("an endless transaction is mined when the gas of its block is used up, and the chain continues", async () => {
    const from = sandbox.wallets.buyer.address;
    const { gasLimit } = await sandbox.chain.client.getBlock();
    const { result } = await call("eth_sendTransactionSync", [
      { from, to: looping, gas: `0x${gasLimit.toString(16)}` },
    ]);
    expect(result).toMatchObject({ status: "0x0", gasUsed: `0x${gasLimit.toString(16)}` });
    await expectAlive();
  });

  test("an endless transaction that a reorganization brings in uses no more than the gas of its block", async () => {
    const from = sandbox.wallets.buyer.address;
    await call("evm_mine");
    await call("anvil_reorg", [1, [[{ from, to: looping, gas: hugeGas }, 0]]]);
    const { gasUsed, gasLimit } = await sandbox.chain.client.getBlock();
    expect(gasUsed <= gasLimit).toBe(true);
    await expectAlive();
  });
});

test("a gas limit below the most is passed on as it is", async () => {
  const gas = "0xc350";
  expect((await call("eth_estimateGas", [{ to: looping, gas }])).error?.message).toContain(
    "gas required exceeds allowance: 50000",
  );
  const options = { tracer: "callTracer" };
  expect(await call("debug_traceCall", [{ to: looping, gas }, "latest", options])).toMatchObject({
    result: { gasUsed: gas, error: "out of gas" },
  });
});

describe("blocks in one call:", () => {
  test.each<[string, unknown[], bigint]>([
    ["evm_mine_detailed", [{ blocks: 100 }], 100n],
    ["anvil_mine_detailed", [{ blocks: "0x64" }], 100n],
  ])("%s %j asks for as many as one call mines, and they are mined", async (method, params, blocks) => {
    const height = await sandbox.chain.client.getBlockNumber({ cacheTime: 0 });
    expect(await call(method, params)).toHaveProperty("result");
    expect(await sandbox.chain.client.getBlockNumber({ cacheTime: 0 })).toBe(height + blocks);
  });

  test.each<[string, unknown[], number]>([
    ["anvil_mine", ["0x2710"], 9_999],
    ["hardhat_mine", [10_000], 9_999],
    ["evm_mine", [{ blocks: 10_000 }], 9_999],
    ["evm_mine_detailed", [{ blocks: 101 }], 100],
    ["anvil_mine_detailed", [{ blocks: "0x65" }], 100],
  ])("%s %j asks for more than one call mines, and is refused", async (method, params, limit) => {
    const height = await sandbox.chain.client.getBlockNumber({ cacheTime: 0 });
    expect((await call(method, params)).error).toEqual({
      code: -32_602,
      message: expect.stringMatching(
        `^${method} mines at most ${limit} blocks, not [0-9]+. Mine them with several calls.$`,
      ),
    });
    expect(await sandbox.chain.client.getBlockNumber({ cacheTime: 0 })).toBe(height);
  });

  test.each<[string, unknown[], unknown]>([
    ["anvil_mine", ["0x3"], null],
    ["hardhat_mine", [3, "0x0"], null],
    ["evm_mine", [{ blocks: 3 }], "0x0"],
    ["evm_mine", [{ blocks: "0x3", timestamp: null }], "0x0"],
  ])("%s %j mines three blocks", async (method, params, result) => {
    const height = await sandbox.chain.client.getBlockNumber({ cacheTime: 0 });
    expect((await call(method, params)).result).toBe(result);
    expect(await sandbox.chain.client.getBlockNumber({ cacheTime: 0 })).toBe(height + 3n);
  });

  test.each(["evm_mine_detailed", "anvil_mine_detailed"])(
    "%s shows the blocks that it mines",
    async (method) => {
      const { result } = await call(method, [{ blocks: 2 }]);
      const shown = z.array(z.object({ hash: z.string() })).parse(result);
      const { hash } = await sandbox.chain.client.getBlock();
      expect([shown.length, shown.at(-1)?.hash]).toEqual([2, hash]);
    },
  );
});

test("the limits apply to the chain RPC only: a test's own client of the chain has none", async () => {
  const data: Hex = loop;
  await expect(sandbox.chain.client.call({ data, gas: most * 2n })).rejects.toThrow("OutOfGas");
});

describe("a request of many calls (the further cases):", { tags: "thorough" }, () => {
  test("calls that run code get ten seconds, and other requests are answered before it is", async () => {
    const calls = Array.from({ length: 500 }, (_, id) =>
      callOf(
        id % 100 === 99 ? "eth_chainId" : "eth_call",
        id % 100 === 99 ? [] : [{ to: looping, gas: hugeGas }],
        id,
      ),
    );
    const batch = post(calls).then((answer) => z.array(response).parse(answer));
    const others = expectAlive();
    expect(await Promise.race([batch.then(() => "the batch"), others.then(() => "others")])).toBe("others");
    const answers = await batch;
    expect(answers.map(({ id }) => id)).toEqual(calls.map(({ id }) => id));
    const kinds = new Set(answers.map(({ error }) => error?.message ?? "a result"));
    expect(kinds).toEqual(
      new Set([
        `EVM error OutOfGas. A call may use ${most} gas at most.`,
        "Code that runs without a transaction may take 10 s in one request. Send fewer calls at once.",
        "a result",
      ]),
    );
    expect(answers.at(-2)?.error?.code).toBe(-32_005);
    expect(answers.at(-1)?.result).toBe("0x7a69");
  });
});

test("a call that runs code on a node that does not answer fails after ten seconds", {
  tags: "thorough",
}, async () => {
  const { pid } = sandbox.chain.anvil;
  const message =
    "Code that runs without a transaction may take 10 s in one request. Send fewer calls at once.";
  await stopProcess(pid);
  try {
    expect((await call("eth_call", [{ to: empty }])).error).toEqual({ code: -32_005, message });
  } finally {
    process.kill(pid, "SIGCONT");
  }
  await expectAlive();
});

describe("blocks in one call (the further cases):", { tags: "thorough" }, () => {
  test("many blocks are mined in portions, between which others are answered", async () => {
    const mined = call("anvil_mine", ["0x400"]).then(() => "mined");
    const heights: number[] = [];
    const others = async () => {
      while (heights.length < 3) heights.push(Number((await call("eth_blockNumber")).result));
      return "others";
    };
    expect(await Promise.race([mined, others()])).toBe("others");
    expect(await mined).toBe("mined");
  });
});

describe("the size of responses:", { tags: "thorough" }, () => {
  /** Block 1 has a contract's creation. */
  const large = ["eth_getBlockByNumber", ["0x1", true]] as const;

  test("of a batch, the calls whose responses exceed the limit together get an error, and so do those after them that may be large", async () => {
    const size = JSON.stringify(await call(...large)).length;
    const fitting = Math.floor((64 * 1024 * 1024) / size);
    const methods = Array.from({ length: fitting + 200 }, (_, id) => callOf(...large, id));
    const answers = z.array(response).parse(await post([...methods, callOf("eth_chainId", [], -1)]));
    expect(answers.map(({ id }) => id)).toEqual([...methods.map(({ id }) => id), -1]);
    const first = answers.findIndex(({ error }) => error !== undefined);
    expect(first).toBeGreaterThan(fitting - 20);
    expect(answers[first]?.error).toEqual({
      code: -32_005,
      message:
        "The responses to one request may have 67108864 bytes together. Ask for less: fewer calls, blocks, logs or traces.",
    });
    for (const { error } of answers.slice(first + 1, -1))
      expect(error).toEqual({
        code: -32_005,
        message:
          "Not run: the response to an earlier call of this request could not be held. Ask for less at once.",
      });
    expect(answers.at(-1)?.result).toBe("0x7a69");
  });
});
