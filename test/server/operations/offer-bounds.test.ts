import type { Hex } from "viem";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { setPausedCall } from "../../../protocol/call.ts";
import { hashId } from "../../../protocol/id.ts";
import type { Snapshot } from "../../../sandbox/state/snapshot.ts";
import { problem, type Schema, Stage } from "../stage.ts";

let stage: Stage;
let merchant: Schema<"Merchant">;
let mark: Snapshot;

beforeAll(async () => {
  stage = await Stage.open({ seed: "offer-bounds", receiptTimeoutMs: 30_000 });
  merchant = await stage.enrolledMerchant();
  mark = await stage.sandbox.snapshot();
});

beforeEach(async () => {
  await mark.restore();
  await stage.renew();
});

afterAll(async () => {
  await stage[Symbol.asyncDispose]();
});

/** The program's admin sets what the operator may offer. */
async function setBounds(change: Parameters<Stage["setBounds"]>[0]): Promise<void> {
  const { status } = await stage.wallet("deployer").receipt(await stage.setBounds(change));
  expect(status).toBe("success");
}

async function refusalOf(amount: string): Promise<Schema<"Problem">> {
  const { id, commitment } = await stage.createPurchase(merchant, { amount });
  const answer = await stage.post(stage.path(`/purchases/${id}/activate`), {
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
    "The registrar's bounds do not allow this offer of 1000: the largest purchase is 999.",
  );
});

test("an offer above what is left of the budget is refused with what is left", async () => {
  await setBounds({ openBudget: 1_500n });
  await stage.activate(await stage.createPurchase(merchant, { amount: "1000" }));
  expect((await refusalOf("501")).detail).toBe(
    "The registrar's bounds do not allow this offer of 501: 500 of the budget for open offers is left.",
  );
});

test("an offer of exactly the largest purchase is made", async () => {
  await setBounds({ maxPurchase: 1_000n });
  expect(await stage.activate(await stage.createPurchase(merchant, { amount: "1000" }))).toMatchObject({
    status: "active",
    route: "registrar_offer",
  });
});

test("an offer of exactly what is left of the budget is made", async () => {
  await setBounds({ openBudget: 1_500n });
  for (const amount of ["1000", "500"])
    expect(await stage.activate(await stage.createPurchase(merchant, { amount }))).toMatchObject({
      status: "active",
      amount,
    });
});

test("an offer of a program whose budget was lowered below what is open is refused with nothing left", async () => {
  await stage.activate(await stage.createPurchase(merchant, { amount: "1000" }));
  await setBounds({ openBudget: 999n });
  expect((await refusalOf("1")).detail).toBe(
    "The registrar's bounds do not allow this offer of 1: 0 of the budget for open offers is left.",
  );
});

test("an offer of a paused program is refused for the pause, and not sent to the direct route", async () => {
  await stage.sandbox.wallets.deployer.setPaused(stage.program, true);
  expect((await refusalOf("1000")).detail).toBe(
    "The registrar's bounds do not allow this offer of 1000: the program is paused, which the direct route does not avoid.",
  );
});

test("every bound that an offer is outside of is named", async () => {
  await setBounds({ maxPurchase: 999n, openBudget: 998n });
  expect((await refusalOf("1000")).detail).toBe(
    "The registrar's bounds do not allow this offer of 1000: the largest purchase is 999, and 998 of the budget for open offers is left.",
  );
});

test.each<[string, string, () => Promise<Hex>]>([
  [
    "a lower budget",
    "24999999 of the budget for open offers was left",
    async () => await stage.setBounds({ openBudget: 24_999_999n }),
  ],
  [
    "a lower largest purchase",
    "the largest purchase was 24999999",
    async () => await stage.setBounds({ maxPurchase: 24_999_999n }),
  ],
  [
    "a pause",
    "the program was paused",
    async () => {
      const { address } = stage.sandbox.chain.deployment.registrar;
      return await stage.wallet("deployer").submit(setPausedCall(address, hashId(stage.program), true));
    },
  ],
])("an offer whose transaction meets %s is refused with what it met", async (_, met, change) => {
  const { id, commitment } = await stage.createPurchase(merchant);
  const refused = await stage.behind(
    async () => [await change()],
    async () =>
      await stage.post(stage.path(`/purchases/${id}/activate`), { commitment_hash: commitment.hash }),
  );
  expect(refused.status, refused.text).toBe(409);
  expect(problem(refused)).toMatchObject({
    code: "registrar_bound_exceeded",
    retryable: true,
    detail: `The registrar's bounds did not allow this offer of 25000000: ${met}.`,
    operation: { status: "reverted" },
  });
});
