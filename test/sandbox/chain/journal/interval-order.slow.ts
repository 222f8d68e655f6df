import { afterEach, expect, test, vi } from "vitest";
import { WebSocket } from "ws";
import { createSandbox } from "../../../../sandbox/create-sandbox.ts";
import { verifyDirectory } from "../../../../sandbox/data-directory/verify-directory.ts";
import { rpcOf } from "../../../end-to-end/rpc.ts";
import { controlSandbox } from "../../../kit/control.ts";
import { temporaryFolder } from "../../../temporary-folder.ts";

const address = "0x00000000000000000000000000000000000000aa";

/** The delay of a call, during which several blocks are due, one each second. */
const heldMs = 2_500;

afterEach(() => {
  vi.restoreAllMocks();
});

/** Has a call come to the node late, with any block that is made until then before it. */
function holdBack(method: string): void {
  const send: (message: string) => void = WebSocket.prototype.send;
  vi.spyOn(WebSocket.prototype, "send").mockImplementation(function (this: WebSocket, message: string) {
    const pass = () => send.call(this, message);
    if (message.includes(method)) setTimeout(pass, heldMs);
    else pass();
  } as never);
}

test("a call that changes an account during interval mining is recorded between two blocks, and repeated there after a reorg", async () => {
  const dataDirectory = await temporaryFolder();
  const first = await createSandbox({ dataDirectory });
  const { client } = first.chain;
  await client.mine({ blocks: 2 });
  await controlSandbox(first.description, "POST", "/mining", { every: 1 });
  const rpc = rpcOf(first.description);
  expect(await rpc("anvil_getIntervalMining")).toBe(1);
  const before = Number(await client.getBlockNumber());
  holdBack("anvil_setBalance");
  await client.setBalance({ address, value: 7n });
  vi.restoreAllMocks();
  await expect
    .poll(async () => Number(await client.getBlockNumber()), { timeout: 10_000 })
    .toBeGreaterThan(before);
  await controlSandbox(first.description, "POST", "/mining", { every: "never" });
  expect(await rpc("anvil_getIntervalMining")).toBe(null);
  const depth = Number(await client.getBlockNumber()) - before;
  await client.request({ method: "anvil_reorg", params: [depth, []] });
  const [balance, head] = [await client.getBalance({ address }), (await client.getBlock()).hash];
  await first.close();
  await verifyDirectory(dataDirectory);
  await using second = await createSandbox({ dataDirectory });
  expect(await second.chain.client.getBalance({ address })).toBe(balance);
  expect((await second.chain.client.getBlock()).hash).toBe(head);
});
