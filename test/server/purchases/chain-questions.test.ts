import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { WebSocket } from "ws";
import { TestKit } from "../../kit/test-kit.ts";
import { temporaryFolder } from "../../temporary-folder.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

test("a created purchase needs four messages to the node, and a block that one of them shows is on disk before the purchase", async () => {
  const dataDirectory = await temporaryFolder();
  await using kit = await TestKit.open({ mode: "live", seed: "questions", dataDirectory });
  const merchant = await kit.enrolledMerchant("50000000");
  await kit.createPurchase(merchant);
  const sent = vi.spyOn(WebSocket.prototype, "send");
  await kit.createPurchase(merchant);
  // Only the relayer's look at an earlier block asks which chain it is.
  const own = sent.mock.calls.filter(([message]) => !String(message).includes("eth_chainId"));
  expect(own).toHaveLength(4);
  // By a connection of its own, so that no answer tells the sandbox of it.
  await fetch(kit.sandbox.chain.anvil.url, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "evm_mine", params: [] }),
  });
  const { number, hash } = await kit.sandbox.chain.client.getBlock();
  const { id } = await kit.createPurchase(merchant);
  const journal = await readFile(join(dataDirectory, "store", "store.journal"), "utf8");
  const block = journal.indexOf(`"number":${number},"hash":"${hash}"`);
  expect(block).toBeGreaterThan(0);
  expect(journal.indexOf(id)).toBeGreaterThan(block);
});
