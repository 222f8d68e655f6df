import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { Snapshot } from "../../sandbox/state/snapshot.ts";
import { problem, type Schema, Stage } from "./stage.ts";

let stage: Stage;
let merchant: Schema<"Merchant">;
let mark: Snapshot;

beforeAll(async () => {
  stage = await Stage.open({ seed: "offer-bounds", patienceMs: 30_000 });
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
