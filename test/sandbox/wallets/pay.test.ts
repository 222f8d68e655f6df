import { expect, test } from "vitest";
import { freshSandbox } from "../../kit/fresh-sandbox.ts";

test.each([
  ["an approval", false],
  ["a permit", true],
] as const)(
  "a wallet pays what is still owed under %s, by a purchase that was read before a part was paid",
  async (_, permit) => {
    const sandbox = await freshSandbox();
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

test("a payment without enough allowance says what the allowance lacks and which call approves it", async () => {
  const sandbox = await freshSandbox();
  const { buyer, other_buyer } = sandbox.wallets;
  const { purchase } = await sandbox.given.purchase({ state: "active", amount: "25000000" });
  const lacks = "Error(message ERC20: transfer amount exceeds allowance)";
  expect((await buyer.pay(purchase)).revert).toBe(
    `${lacks}: 0 is approved, and the payment needs 25000000. Call approve(purchase, 25000000n) first.`,
  );
  await buyer.approve(purchase, 10_000_000n);
  const short = `${lacks}: 10000000 is approved, and the payment needs 25000000. Call approve(purchase, 25000000n) first.`;
  expect((await buyer.pay(purchase)).revert).toBe(short);
  expect(
    (
      await buyer.payBatch([
        { purchase, amount: 20_000_000n },
        { purchase, amount: 5_000_000n },
      ])
    ).revert,
  ).toBe(short);
  await buyer.approve(purchase, 25_000_000n);
  expect((await buyer.pay(purchase)).revert).toBeNull();
  // Another reason stays as the contract gives it.
  expect((await other_buyer.pay(purchase, 1n)).revert).toMatch(/^WrongCaller\([^)]*\)$/);
});

test("a batch of 300 payments has enough gas", async () => {
  const { given, wallets } = await freshSandbox();
  const { purchase } = await given.purchase({ state: "active", amount: "25000000" });
  await wallets.buyer.approve(purchase);
  const parts = Array.from({ length: 300 }, () => ({ purchase, amount: 1n }));
  expect((await wallets.buyer.payBatch(parts)).receipt.status).toBe("success");
});
