import { type Hex, keccak256, numberToHex } from "viem";
import { expect, onTestFinished, test } from "vitest";
import { startAnvil } from "../../../../sandbox/chain/anvil/start-anvil.ts";
import { createChainClient } from "../../../../sandbox/chain/client/chain-client.ts";
import { nodeSocket } from "../../../../sandbox/chain/client/node-socket.ts";
import { stopProcess } from "../../../kit/stop-process.ts";

async function connectToAnvil() {
  const anvil = await startAnvil();
  onTestFinished(async () => await anvil.stop());
  const socket = nodeSocket(anvil.url);
  onTestFinished(() => socket.close());
  const { request } = createChainClient(anvil.url, socket.transport);
  const hash = (number: number) =>
    request<{ Method: "web3_sha3"; Parameters: [Hex]; ReturnType: Hex }>({
      method: "web3_sha3",
      params: [numberToHex(number, { size: 2 })],
    });
  return { anvil, socket, hash, request };
}

const numbers = Array.from({ length: 1_000 }, (_, number) => number);

test("each of a thousand concurrent requests gets its own answer", async () => {
  const { hash } = await connectToAnvil();
  expect(await Promise.all(numbers.map(hash))).toEqual(
    numbers.map((number) => keccak256(numberToHex(number, { size: 2 }))),
  );
});

test("requests get their own answers while the node announces blocks that one of them has subscribed to", async () => {
  const { hash, request } = await connectToAnvil();
  const subscribe = async () =>
    await request<{ Method: "eth_subscribe"; Parameters: [string]; ReturnType: Hex }>({
      method: "eth_subscribe",
      params: ["newHeads"],
    });
  // On each of the sockets.
  await Promise.all(numbers.slice(0, 512).map(subscribe));
  for (const number of numbers.slice(0, 20)) {
    const [answer] = await Promise.all([
      hash(number),
      request<{ Method: "evm_mine"; Parameters: []; ReturnType: Hex }>({ method: "evm_mine", params: [] }),
    ]);
    expect(answer).toBe(keccak256(numberToHex(number, { size: 2 })));
  }
});

// Within less than the time that a node has for an answer.
test("closing fails requests that a hanging node has not answered, waiting requests, and later requests", async () => {
  const { anvil, socket, hash } = await connectToAnvil();
  await hash(0);
  await stopProcess(anvil.pid);
  onTestFinished(() => {
    process.kill(anvil.pid, "SIGCONT");
  });
  const asked = Promise.allSettled(numbers.map(hash));
  // Every socket has a message under way.
  await new Promise(setImmediate);
  socket.close();
  for (const answer of await asked)
    expect(answer).toMatchObject({
      status: "rejected",
      reason: { details: expect.stringContaining("closed") },
    });
  await expect(hash(0)).rejects.toThrow("The sandbox is closed. Open another one with createSandbox().");
}, 5_000);
