import type { EIP1193RequestFn } from "viem";
import { expect, onTestFinished, test } from "vitest";
import { openRelayerKits } from "../../kit/relayer-kit.ts";
import { TestKit } from "../../kit/test-kit.ts";

const openKit = openRelayerKits();

/** A node that shows a signer's raised nonce before it has the receipt of the transaction that raised it. */
class LateNode {
  readonly request: EIP1193RequestFn;
  #hides: "nothing" | "until the nonce" | "once more" = "nothing";

  constructor(forward: EIP1193RequestFn) {
    const ask = async (call: { method: string; params?: unknown }): Promise<unknown> =>
      await Reflect.apply(forward, undefined, [call]);
    const request = async (call: { method: string; params?: unknown }) => {
      const answer = await ask(call);
      if (call.method === "eth_sendRawTransaction") {
        // Automine answers first and makes the block then.
        while ((await ask({ method: "eth_getTransactionReceipt", params: [answer] })) === null);
        this.hideReceipts();
      }
      if (call.method === "eth_getTransactionCount" && this.#hides === "until the nonce")
        this.#hides = "once more";
      if (call.method !== "eth_getTransactionReceipt" || this.#hides === "nothing") return answer;
      if (this.#hides === "once more") this.#hides = "nothing";
      return null;
    };
    // The type of a request function promises an answer for each method, which a node that is late is not bound by.
    this.request = request as EIP1193RequestFn;
  }

  /** No receipts from now on, until the nonce was shown and a receipt was asked for once more. */
  hideReceipts(): void {
    this.#hides = "until the nonce";
  }
}

test("a nonce that the node shows before the receipt does not make an activation need attention", async () => {
  const kit = await TestKit.open({
    seed: "late-receipt",
    receiptTimeoutMs: 0,
    adaptChain: async (chain) => ({ ...chain, request: new LateNode(chain.request).request }),
  });
  onTestFinished(async () => await kit[Symbol.asyncDispose]());
  const purchase = await kit.createPurchase(await kit.enrolledMerchant());
  const path = kit.path(`/purchases/${purchase.id}/activate`);
  const answer = await kit.post(path, { commitment_hash: purchase.commitment.hash });
  expect(JSON.parse(answer.text)).toMatchObject({
    operation: { status: "confirmed", status_reason: null, nonce: 0 },
    purchase: { status: "active" },
  });
  expect(answer.status).toBe(200);
});

test("a nonce that the node shows before the receipt does not make an operation need attention when it is only read", async () => {
  const kit = await openKit({ receiptTimeoutMs: 0 });
  const node = new LateNode(kit.client.request);
  const relayer = await kit.restart({ request: node.request });
  await kit.faults.set({ layer: "relayer", point: "sent", action: "hold" });
  const held = await relayer.submit(await kit.offer("late"));
  expect(held.status).toBe("signed");
  node.hideReceipts();
  await relayer.observe();
  expect(await relayer.read(held.operation_id)).toMatchObject({ status: "confirmed", status_reason: null });
});
