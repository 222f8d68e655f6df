import type { Hex } from "viem";
import { expect, test } from "vitest";
import { setPausedCall } from "../../../protocol/call.ts";
import { hashId } from "../../../protocol/values/id.ts";
import { problem, type Schema } from "../../kit/answer.ts";
import { resetBeforeEach } from "../../kit/reset-before-each.ts";
import { TestKit } from "../../kit/test-kit.ts";

let kit: TestKit;
let merchant: Schema<"Merchant">;

resetBeforeEach(async () => {
  kit = await TestKit.shared({ receiptTimeoutMs: 30_000 });
  merchant = await kit.enrolledMerchant();
  return kit;
});

/** The program's admin sets what the operator may offer. */
async function setBounds(change: Parameters<TestKit["setBounds"]>[0]): Promise<void> {
  const { status } = await kit.wallet("deployer").receipt(await kit.setBounds(change));
  expect(status).toBe("success");
}

async function refusalOf(amount: string): Promise<Schema<"Problem">> {
  const { id, commitment } = await kit.createPurchase(merchant, { amount });
  const answer = await kit.post(kit.path(`/purchases/${id}/activate`), {
    commitment_hash: commitment.hash,
  });
  expect(answer.status).toBe(409);
  const refused = problem(answer);
  expect(refused.code).toBe("registrar_bound_exceeded");
  return refused;
}

test("an offer above the largest purchase is refused with that amount", async () => {
  await setBounds({ maxPurchase: 999n });
  expect((await refusalOf("1000")).detail).toBe(
    "The program does not allow this offer of 1000: the largest purchase is 999.",
  );
});

test("an offer above what is left of the budget is refused with what is left", async () => {
  await setBounds({ openBudget: 1_500n });
  await kit.activate(await kit.createPurchase(merchant, { amount: "1000" }));
  expect((await refusalOf("501")).detail).toBe(
    "The program does not allow this offer of 501: 500 of the budget for open offers is left.",
  );
});

test("an offer of exactly the largest purchase is made", async () => {
  await setBounds({ maxPurchase: 1_000n });
  expect(await kit.activate(await kit.createPurchase(merchant, { amount: "1000" }))).toMatchObject({
    status: "active",
    route: "registrar_offer",
  });
});

test("an offer of exactly what is left of the budget is made", async () => {
  await setBounds({ openBudget: 1_500n });
  for (const amount of ["1000", "500"])
    expect(await kit.activate(await kit.createPurchase(merchant, { amount }))).toMatchObject({
      status: "active",
      amount,
    });
});

test("an offer of a program whose budget was lowered below what is open is refused with nothing left", async () => {
  await kit.activate(await kit.createPurchase(merchant, { amount: "1000" }));
  await setBounds({ openBudget: 999n });
  expect((await refusalOf("1")).detail).toBe(
    "The program does not allow this offer of 1: 0 of the budget for open offers is left.",
  );
});

test("an offer of a paused program is refused for the pause, and not sent to the direct route", async () => {
  await kit.sandbox.wallets.deployer.setPaused(kit.program, true);
  expect((await refusalOf("1000")).detail).toBe(
    "The program does not allow this offer of 1000: the program is paused, which the direct route does not avoid.",
  );
});

test("every bound that an offer is outside of is named", async () => {
  await setBounds({ maxPurchase: 999n, openBudget: 998n });
  expect((await refusalOf("1000")).detail).toBe(
    "The program does not allow this offer of 1000: the largest purchase is 999, and 998 of the budget for open offers is left.",
  );
});

test.each<[string, string, () => Promise<Hex>]>([
  [
    "a lower budget",
    "24999999 of the budget for open offers was left",
    async () => await kit.setBounds({ openBudget: 24_999_999n }),
  ],
  [
    "a lower largest purchase",
    "the largest purchase was 24999999",
    async () => await kit.setBounds({ maxPurchase: 24_999_999n }),
  ],
  [
    "a pause",
    "the program was paused",
    async () => {
      const { address } = kit.sandbox.chain.deployment.registrar;
      return await kit.wallet("deployer").submit(setPausedCall(address, hashId(kit.program), true));
    },
  ],
])("an offer whose transaction meets %s is refused with what it met", async (_, met, change) => {
  const { id, commitment } = await kit.createPurchase(merchant);
  const refused = await kit.behind(
    async () => [await change()],
    async () => await kit.post(kit.path(`/purchases/${id}/activate`), { commitment_hash: commitment.hash }),
  );
  expect(refused.status, refused.text).toBe(409);
  expect(problem(refused)).toMatchObject({
    code: "registrar_bound_exceeded",
    retryable: true,
    detail: `The program did not allow this offer of 25000000: ${met}.`,
    operation: { status: "reverted" },
  });
});
