import { expect, test } from "vitest";
import { createSandbox } from "../../../sandbox/create-sandbox.ts";

test.each([
  ["an approval", false],
  ["a permit", true],
] as const)(
  "a wallet pays what is still owed under %s, by a purchase that was read before a part was paid",
  async (_, permit) => {
    await using sandbox = await createSandbox({ seed: "paid-in-parts" });
    const { buyer } = sandbox.wallets;
    const { purchase } = await sandbox.given.purchase({ state: "active", amount: "25000000" });
    if (!permit) await buyer.approve(purchase);
    const sent = async () => await sandbox.chain.client.getTransactionCount({ address: buyer.address });
    for (const options of [{ amount: 10_000_000n, permit }, { permit }]) {
      const { receipt, revert } = await buyer.pay(purchase, options);
      expect({ status: receipt.status, revert }).toEqual({ status: "success", revert: null });
    }
    const before = await sent();
    await expect(buyer.pay(purchase, { permit })).rejects.toMatchObject({
      code: "argument_invalid",
      message: `pay has nothing to pay: ${purchase.id} is paid in full. Pass an amount to send a payment anyway.`,
    });
    expect(await sent()).toBe(before);
    const { revert } = await buyer.pay(purchase, { amount: 1n, permit });
    expect(revert).not.toBeNull();
  },
);
