import { beforeAll, beforeEach, describe, expect, test } from "vitest";
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

/** The chain reads, runs and mines for others. */
async function expectAlive(): Promise<void> {
  const { token } = sandbox.description.contracts;
  const height = Number((await call("eth_blockNumber")).result);
  expect((await call("eth_call", [{ to: token, data: "0x06fdde03" }])).result).toMatch(/^0x/);
  expect((await call("evm_mine")).result).toBe("0x0");
  // A transaction that is asked for meanwhile may have been mined in a block of its own.
  expect(Number((await call("eth_blockNumber")).result)).toBeGreaterThan(height);
}

describe("a request of many calls:", () => {
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

test("a call that runs code on a node that does not answer fails after ten seconds", async () => {
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

describe("blocks in one call:", () => {
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

describe("the size of responses:", () => {
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
          "Not run: the response to an earlier call of this request was too large. Ask for less at once.",
      });
    expect(answers.at(-1)?.result).toBe("0x7a69");
  });
});
