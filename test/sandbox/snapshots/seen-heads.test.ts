import { expect, test, vi } from "vitest";
import { WebSocket } from "ws";
import { freshSandbox } from "../../kit/fresh-sandbox.ts";

test("after a restore to a snapshot that was taken right after the start, the relayer does not look at a block that changed nothing", async () => {
  const sandbox = await freshSandbox();
  const { client } = sandbox.chain;
  const snapshot = await sandbox.snapshot();
  const sent = vi.spyOn(WebSocket.prototype, "send");
  const received = vi.spyOn(WebSocket.prototype, "emit");
  const isAnnounced = (hash: string) =>
    received.mock.calls.some(
      ([, message]) => /eth_subscription/.test(String(message)) && String(message).includes(hash),
    );
  for (let round = 0; round < 5; round += 1) {
    await snapshot.restore();
    await client.mine({ blocks: 1 });
    const { hash } = await client.getBlock();
    await expect.poll(() => isAnnounced(hash)).toBe(true);
    // A snapshot waits for the relayer.
    await sandbox.snapshot();
    received.mockClear();
  }
  // Only a look asks which chain it is. The one at the block of the start may come after the first snapshot.
  const looks = sent.mock.calls.filter(([message]) => String(message).includes("eth_chainId"));
  expect(looks.length).toBeLessThanOrEqual(1);
});
