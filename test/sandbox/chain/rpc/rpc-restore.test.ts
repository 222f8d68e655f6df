import { once } from "node:events";
import { toHex } from "viem";
import { beforeAll, describe, expect, test } from "vitest";
import { WebSocket } from "ws";
import { z } from "zod";
import { setMining } from "../../../../sandbox/chain/clock/mining.ts";
import { createSandbox, type Sandbox } from "../../../../sandbox/create-sandbox.ts";
import { ask } from "../../../ask.ts";
import { freshSandbox } from "../../../kit/fresh-sandbox.ts";

let sandbox: Sandbox;

beforeAll(async () => {
  sandbox = await freshSandbox();
});

const response = z.object({
  result: z.unknown().optional(),
  error: z.object({ message: z.string() }).optional(),
});

async function call(method: string, params: readonly unknown[] = []) {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  const headers = { "Content-Type": "application/json" };
  const { text } = await ask(sandbox.description.urls.rpc, { method: "POST", headers, body });
  return response.parse(JSON.parse(text));
}

/** An account without a known key. */
const keyless = "0x00000000000000000000000000000000000a11ce";
const other = "0x0000000000000000000000000000000000000b0b";

describe("a restore brings back what the node was at the snapshot:", () => {
  test.each([keyless, keyless.toUpperCase().replace("0X", "0x"), keyless.slice(2)])(
    "whom it impersonates, named as %s",
    async (account) => {
      const send = async (from: string) =>
        (await call("eth_sendTransaction", [{ from, to: other, value: "0x0" }])).error;
      await call("anvil_setBalance", [keyless, toHex(10n ** 18n)]);
      await call("anvil_setBalance", [other, toHex(10n ** 18n)]);
      await call("anvil_impersonateAccount", [account]);
      const snapshot = await sandbox.snapshot();
      await call("hardhat_stopImpersonatingAccount", [keyless]);
      await call("hardhat_autoImpersonateAccount", [true]);
      expect(await send(other)).toBeUndefined();
      for (let times = 0; times < 2; times += 1) {
        await snapshot.restore();
        expect(await send(keyless)).toBeUndefined();
        expect(await send(other)).toMatchObject({ message: "No Signer available" });
      }
    },
  );

  test("the gas limit and the base fee of the next block", async () => {
    const set = async (gasLimit: number, baseFee: number) => {
      await call("evm_setBlockGasLimit", [toHex(gasLimit)]);
      await call("anvil_setNextBlockBaseFeePerGas", [toHex(baseFee)]);
    };
    await set(55_000_000, 1_500_000_000);
    const snapshot = await sandbox.snapshot();
    await set(16_000_000, 1_000_000_000);
    await call("evm_mine");
    await snapshot.restore();
    const next = await sandbox.chain.client.getBlock({ blockTag: "pending" });
    expect(next).toMatchObject({ gasLimit: 55_000_000n, baseFeePerGas: 1_500_000_000n });
  });
});

test.each([
  [
    "anvil_mine",
    async () => await call("anvil_mine", ["0x270f"]),
    { error: { message: expect.stringContaining("restored") } },
  ],
  [
    "POST /blocks",
    async () => {
      const response = await fetch(`${sandbox.description.urls.control}/blocks`, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ blocks: 9_999 }),
      });
      return await response.json();
    },
    { status: 409, code: "undone" },
  ],
])("a restore ends a long %s, and leaves none of its blocks", async (_, mine, refused) => {
  const start = await sandbox.snapshot();
  const before = await sandbox.fingerprint();
  const height = async () => await sandbox.chain.client.getBlockNumber({ cacheTime: 0 });
  const begun = await height();
  const mining = mine();
  await expect.poll(height).toBeGreaterThan(begun);
  await start.restore();
  expect(await mining).toMatchObject(refused);
  expect(await sandbox.fingerprint()).toEqual(before);
});

describe("a transaction that waits for its block", () => {
  const transfer = () => {
    const { address } = sandbox.wallets.buyer;
    return { from: address, to: address, value: "0x1" };
  };
  /** Sends a request over HTTP, and returns its response. */
  const post = async (body: object, { description } = sandbox) => {
    const headers = { "Content-Type": "application/json" };
    return JSON.parse(
      (await ask(description.urls.rpc, { method: "POST", headers, body: JSON.stringify(body) })).text,
    );
  };
  const request = (params: readonly unknown[], method = "eth_sendTransactionSync", id = 1) => ({
    jsonrpc: "2.0",
    id,
    method,
    params,
  });
  const isPending = async ({ chain } = sandbox) =>
    await expect.poll(async () => (await chain.client.getTxpoolStatus()).pending).toBe(1);
  const ended = {
    jsonrpc: "2.0",
    id: 1,
    error: {
      code: -32_603,
      message:
        "The sandbox was restored while this call waited for a block, and the transaction is gone. Send it again.",
    },
  };

  const ways: [how: string, send: () => Promise<unknown>, response: unknown][] = [
    ["over HTTP", async () => await post(request([transfer()])), ended],
    [
      "that is signed",
      async () => {
        const { result } = await call("eth_signTransaction", [
          { ...transfer(), gas: "0x5208", gasPrice: "0x77359400", nonce: "0x0" },
        ]);
        return await post(request([result], "eth_sendRawTransactionSync"));
      },
      ended,
    ],
    [
      "in a batch",
      async () => await post([request([transfer()]), request([], "evm_mine", 2)]),
      [ended, expect.objectContaining({ id: 2, error: expect.objectContaining({ code: -32_603 }) })],
    ],
    [
      "over a WebSocket",
      async () => {
        const socket = new WebSocket(sandbox.description.urls.rpc.replace("http", "ws"));
        await once(socket, "open");
        socket.send(JSON.stringify(request([transfer()])));
        const [message] = await once(socket, "message");
        socket.close();
        return JSON.parse(String(message));
      },
      ended,
    ],
  ];

  test("waits as long as its second parameter says (EIP-7966), and names the transaction that was sent", async () => {
    const start = await sandbox.snapshot();
    await setMining(sandbox.chain.client, "never");
    const { error } = await post(request([transfer(), 49.5]));
    expect(error.message).toMatch(
      /^The transaction 0x\w{64} was sent, and no block had it within 0\.05 s\. Mine a block, then read/,
    );
    await setMining(sandbox.chain.client, "transaction");
    expect(await post(request([transfer(), 5_000]))).toMatchObject({ result: { status: "0x1" } });
    await start.restore();
  });

  test.each(ways)(
    "%s holds up no snapshot, and ends with a restore that says so",
    async (_, send, response) => {
      const restores = [
        async () => {
          const snapshot = await sandbox.snapshot();
          return [async () => await snapshot.restore(), async () => await snapshot.reset()];
        },
        async () => {
          const { result } = await call("evm_snapshot");
          return [async () => void (await call("evm_revert", [result]))];
        },
      ];
      for (const take of restores)
        for (const restore of await take()) {
          await setMining(sandbox.chain.client, "never");
          const sent = send();
          await isPending();
          await sandbox.snapshot();
          await restore();
          expect(await sent).toEqual(response);
          expect(await call("txpool_status")).toMatchObject({ result: { pending: "0x0", queued: "0x0" } });
        }
    },
  );

  test("answers with its receipt, also after a snapshot", async () => {
    await setMining(sandbox.chain.client, "never");
    const sent = post(request([transfer()]));
    await isPending();
    await sandbox.snapshot();
    await call("evm_mine");
    const { result } = await sent;
    expect((await call("eth_getTransactionReceipt", [result.transactionHash])).result).toEqual(result);
  });

  test("ends with its sandbox, and says so", async () => {
    await using own = await createSandbox();
    await setMining(own.chain.client, "never");
    const { address } = own.wallets.buyer;
    const sent = post(request([{ from: address, to: address }]), own);
    await isPending(own);
    await own.close();
    expect(await sent).toMatchObject({ error: { message: expect.stringMatching(/closed|ended/) } });
  });
});
