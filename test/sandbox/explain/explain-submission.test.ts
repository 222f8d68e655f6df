import { encodeFunctionData, type Hex } from "viem";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { ContractFixture } from "../../../check-contract/fixture/contract-fixture.ts";
import { testUsdcAbi } from "../../../protocol/abi.generated.ts";
import { usdc } from "../../../protocol/values/amount.ts";
import { type Explanation, explanationSchema } from "../../../sandbox/explain/explanation.ts";
import { renderExplanation } from "../../../testkit/explanations/render-explanation.ts";

let fixture: ContractFixture;
beforeAll(async () => {
  fixture = await ContractFixture.open();
});
afterEach(async () => await fixture.reset());
afterAll(async () => await fixture.close());

async function ask(path: string): Promise<Response> {
  return await fetch(`${fixture.sandbox.description.urls.control}/explain/${path}`);
}

async function explain(hash: Hex, query = ""): Promise<Explanation> {
  const response = await ask(`${hash}${query}`);
  expect(response.status).toBe(200);
  return explanationSchema.parse(await response.json());
}

/** A transfer of the buyer to the merchant, past the registrar contract. */
async function transfer(): Promise<Hex> {
  const args = [fixture.address("merchant"), 25n * usdc] as const;
  const data = encodeFunctionData({ abi: testUsdcAbi, functionName: "transfer", args });
  return await fixture.succeed("buyer", { to: fixture.contracts.token, data });
}

test("a refused hash is explained against its submission, though the buyer has newer purchases, and the call is named as it is", async () => {
  const hash = await transfer();
  expect((await explain(hash)).submission).toBeNull();
  const purchase = fixture.purchase;
  expect((await fixture.reconcile(purchase, [hash])).status).toBe(422);
  const explanation = await explain(hash);
  expect(explanation).toMatchObject({
    accepted: false,
    cause: "It calls transfer on the token contract; pay on the registrar contract was expected.",
    step: "payment",
    subject: purchase.id,
    submission: {
      request: "POST /v1/routing/programs/{program}/purchases/{id}/reconcile",
      step: "payment",
      subject: purchase.id,
      code: "binding_mismatch",
      times: 1,
    },
    call: {
      function: "transfer",
      contract: "the token contract",
      expected_function: "pay",
      expected_contract: "the registrar contract",
    },
  });
  expect(Object.keys(explanation)[0]).toBe("cause");
  const [first, second, third] = renderExplanation(explanation, false).split("\n");
  expect(first).toBe(explanation.cause);
  expect(second).toBe(`${hash}  not accepted as payment of ${purchase.id}`);
  expect(third).toMatch(
    new RegExp(`^Refused with binding_mismatch as payment of ${purchase.id} at 20.*: POST /v1/.*/reconcile$`),
  );
});

test("a refused hash is explained with the amount that its submission named", async () => {
  const hash = await fixture.succeed("buyer", fixture.approve(25n * usdc));
  const answer = await fixture.submitToWallet(fixture.purchase, {
    action: "approve",
    transaction_hash: hash,
    amount: (20n * usdc).toString(),
  });
  expect(answer.status).toBe(422);
  expect(await explain(hash)).toMatchObject({
    accepted: false,
    step: "payment approval",
    subject: fixture.purchase.id,
    cause: 'In approve, value is "25000000"; "20000000" was expected.',
  });
});

test("a refused hash is accepted once a wallet route has taken it, with another amount or for what it is", async () => {
  const { purchase } = fixture;
  for (const [action, call] of [
    ["approve", fixture.approve(5n * usdc)],
    ["pay", fixture.pay(purchase, 5n * usdc)],
  ] as const) {
    const transaction_hash = await fixture.succeed("buyer", call);
    const submit = async (amount: bigint) =>
      (await fixture.submitToWallet(purchase, { action, transaction_hash, amount: String(amount) })).status;
    expect(await submit(4n)).toBe(422);
    expect(await explain(transaction_hash)).toMatchObject({ accepted: false, subject: purchase.id });
    expect(await submit(5n * usdc)).toBe(200);
    for (const query of ["", `?for=${purchase.id}`])
      expect(await explain(transaction_hash, query)).toMatchObject({
        accepted: true,
        submission: null,
      });
  }
});

test("an approval of nothing is accepted for no purchase, also for one that is fully paid", async () => {
  await fixture.succeed("buyer", fixture.pay(fixture.purchase));
  const hash = await fixture.succeed("buyer", fixture.approve(0n));
  expect(await explain(hash)).toMatchObject({
    accepted: false,
    cause: expect.stringMatching(/^In approve, value is "0"; "\d+" was expected/),
  });
});

test("of several refused submissions the newest is explained, and any other one on request", async () => {
  const hash = await transfer();
  await fixture.reconcile(fixture.purchase, [hash]);
  await fixture.reconcile(fixture.second, [hash]);
  expect(await explain(hash)).toMatchObject({
    subject: fixture.second.id,
    submission: { subject: fixture.second.id },
  });
  expect(await explain(hash, `?for=${fixture.purchase.id}`)).toMatchObject({
    subject: fixture.purchase.id,
    submission: { subject: fixture.purchase.id },
  });
});

test("a purchase that the hash was not submitted for is compared when it is named, with the step of the call", async () => {
  const hash = await fixture.succeed("buyer", fixture.approve(25n * usdc));
  for (const { id } of [fixture.purchase, fixture.second])
    expect(await fixture.sandbox.explain(hash, { for: id })).toMatchObject({
      accepted: true,
      step: "payment approval",
      subject: id,
      submission: null,
    });
  expect(await fixture.sandbox.explain(hash, { for: fixture.merchant.id })).toMatchObject({
    accepted: false,
    step: "funding approval",
    subject: fixture.merchant.id,
  });
});

test("a payment that was submitted for another purchase is compared with that one, and accepted for its own once it is submitted there", async () => {
  const hash = await fixture.succeed("buyer", fixture.pay(fixture.purchase));
  expect((await fixture.reconcile(fixture.second, [hash])).status).toBe(422);
  expect(await explain(hash)).toMatchObject({
    accepted: false,
    subject: fixture.second.id,
    compared: [{ subject: fixture.second.id }, { subject: fixture.purchase.id, accepted: true, failed: [] }],
  });
  expect((await fixture.reconcile(fixture.purchase, [hash])).status).toBe(200);
  expect(await explain(hash)).toMatchObject({ accepted: true, subject: fixture.purchase.id });
  expect((await fixture.reconcile(fixture.second, [hash])).status).toBe(422);
  expect(await explain(hash)).toMatchObject({ accepted: false, subject: fixture.second.id });
});

test("an id of no merchant and no purchase is refused with the value and what to pass", async () => {
  const hash = await transfer();
  const response = await ask(`${hash}?for=pur_x`);
  expect(response.status).toBe(422);
  expect(await response.json()).toMatchObject({
    code: "argument_invalid",
    detail:
      'for is "pur_x", which is no merchant and no purchase of this sandbox. Pass an id that the API has returned, such as "pur_…".',
  });
  expect((await ask(`${hash}?purchase=pur_x`)).status).toBe(422);
});
