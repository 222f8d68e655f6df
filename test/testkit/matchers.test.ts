import { expect } from "vitest";
import { unwrap } from "../../sandbox/client/api-client.ts";
import type { Sandbox } from "../../sandbox/create-sandbox.ts";
import { sandboxMatchers } from "../../testkit/matchers.ts";
import { sandboxTest } from "../../testkit/vitest.ts";

const test = sandboxTest({ seed: "matchers" });
const none = `0x${"0".repeat(64)}`;

/** Returns a purchase, a payment of it by a stranger, and what the API answers to that. */
async function strangePayment({ given, wallets, client }: Sandbox) {
  const { purchase } = await given.purchase({ state: "active" });
  const { program, id } = purchase;
  await wallets.stranger.approve(purchase);
  const { transaction_hash } = await wallets.stranger.pay(purchase);
  const answer = await client.POST("/v1/routing/programs/{program}/purchases/{id}/reconcile", {
    params: { path: { program, id }, header: { "Idempotency-Key": "reconcile" } },
    body: { transaction_hashes: [transaction_hash] },
  });
  return { purchase, transaction_hash, answer };
}

/** Returns the message that an assertion fails with. */
async function messageOf(assertion: Promise<void>): Promise<string> {
  return await assertion.then(
    () => "It passed.",
    (error: Error) => error.message,
  );
}

test("toBeAcceptedAs expects a step, and an object if one is named", async ({ sandbox }) => {
  const { merchant, purchase, refund } = await sandbox.given.purchase({ state: "refunded" });
  await expect(refund.transaction_hash).toBeAcceptedAs("refund");
  await expect(refund.transaction_hash).toBeAcceptedAs("refund", purchase);
  await expect(refund.transaction_hash).toBeAcceptedAs("refund", purchase.id);
  await expect(refund.transaction_hash).not.toBeAcceptedAs("payment");
  await expect(refund.transaction_hash).not.toBeAcceptedAs("refund", merchant);
});

test("toBeAcceptedAs says why a transaction is refused, and prints only what failed", async ({ sandbox }) => {
  const { purchase, transaction_hash } = await strangePayment(sandbox);
  const { buyer, stranger } = sandbox.wallets;
  const message = await messageOf(expect(transaction_hash).toBeAcceptedAs("payment", purchase));
  const { cause, checks } = await sandbox.explain(transaction_hash);
  expect(message.split("\n")[0]).toBe(`Expected acceptance as payment of ${purchase.id}. ${cause}`);
  expect(message).toContain(`${transaction_hash}  not accepted as payment of ${purchase.id}`);
  expect(message).toContain(`✗ wallet: expected ${buyer.address}, is ${stranger.address}`);
  expect(message).not.toContain("✓");
  expect(message.match(/✗/g)).toHaveLength(checks.filter(({ ok }) => !ok).length);
});

test("toBeAcceptedAs says as what a transaction of another step or object is accepted, and prints no check", async ({
  sandbox,
}) => {
  const { purchase, refund, payments } = await sandbox.given.purchase({ state: "refunded" });
  const { purchase: other } = await sandbox.given.purchase({ state: "active" });
  const is = `It is accepted as refund of ${purchase.id}: ${refund.transaction_hash}`;
  expect(await messageOf(expect(refund.transaction_hash).toBeAcceptedAs("payment", purchase))).toBe(
    `Expected acceptance as payment of ${purchase.id}. ${is}`,
  );
  expect(await messageOf(expect(refund.transaction_hash).toBeAcceptedAs("claim"))).toBe(
    `Expected acceptance as claim. ${is}`,
  );
  expect(await messageOf(expect(payments[0]?.transaction_hash).toBeAcceptedAs("payment", other))).toBe(
    `Expected acceptance as payment of ${other.id}. It is accepted as payment of ${purchase.id}: ${payments[0]?.transaction_hash}`,
  );
});

test("toBeAcceptedAs shows the argument that differs for the named object", async ({ sandbox }) => {
  const { purchase: first } = await sandbox.given.purchase({ state: "active" });
  const { transaction_hash } = await sandbox.wallets.stranger.pay(first);
  const { purchase: second } = await sandbox.given.purchase({ state: "active" });
  const message = await messageOf(expect(transaction_hash).toBeAcceptedAs("payment", second));
  expect(message).toMatch(new RegExp(`^Expected acceptance as payment of ${second.id}\\. .+`));
  expect(message).toContain(`${transaction_hash}  not accepted as payment of ${second.id}`);
  expect(message).toMatch(/^ {2}id {2}0x[0-9a-f]{64}, expected 0x[0-9a-f]{64}$/m);
  expect(message).not.toMatch(/^ {2}amount /m);
});

test("toBeAcceptedAs refuses a value that is not a hash, even after .not", async ({ sandbox: _ }) => {
  const message = "Expected a transaction hash, got null.";
  expect(await messageOf(expect(null).toBeAcceptedAs("refund"))).toBe(message);
  expect(await messageOf(expect(null).not.toBeAcceptedAs("refund"))).toBe(message);
});

test("a batch is accepted for each of its purchases", async ({ sandbox: { given, wallets } }) => {
  const { purchase: first } = await given.purchase({ state: "active" });
  const { purchase: second } = await given.purchase({ state: "active" });
  await wallets.buyer.approve(first, 50_000_000n);
  const payments = [first, second].map((purchase) => ({ purchase, amount: 25_000_000n }));
  const { transaction_hash } = await wallets.buyer.payBatch(payments);
  await expect(transaction_hash).toBeAcceptedAs("payment", first);
  await expect(transaction_hash).toBeAcceptedAs("payment", second);
});

test("toBeRefusedBy expects each named check to have failed", async ({ sandbox }) => {
  const { answer, transaction_hash } = await strangePayment(sandbox);
  const thrown = await Promise.resolve(answer)
    .then(unwrap)
    .catch((error: unknown) => error);
  for (const received of [transaction_hash, answer, answer.error, thrown]) {
    await expect(received).toBeRefusedBy();
    await expect(received).toBeRefusedBy("wallet");
    await expect(received).not.toBeRefusedBy("wallet", "chain");
  }
});

test("toBeRefusedBy prints the failed checks and the explanation", async ({ sandbox }) => {
  const { answer, transaction_hash } = await strangePayment(sandbox);
  const ofHash = await messageOf(expect(transaction_hash).toBeRefusedBy("chain"));
  expect(ofHash).toMatch(/^Expected a refusal by chain; failed: (?:[a-z]+, )*wallet/);
  expect(ofHash).toContain((await sandbox.explain(transaction_hash)).cause);
  const ofAnswer = await messageOf(expect(answer).toBeRefusedBy("chain"));
  expect(ofAnswer).toMatch(/^Expected a refusal by chain; failed: (?:[a-z]+, )*wallet/);
  expect(ofAnswer).toContain(`✗ wallet: expected ${sandbox.wallets.buyer.address}`);
  const { refund } = await sandbox.given.purchase({ state: "refunded" });
  const accepted = await messageOf(expect(refund.transaction_hash).toBeRefusedBy());
  expect(accepted).toMatch(
    /^Expected a refusal; failed: no check\.\n\n0x[0-9a-f]{64} {2}accepted as refund of /,
  );
});

test("toBeProblem expects a code, of an answer, its error or a ProblemError", async ({ sandbox }) => {
  const { answer } = await strangePayment(sandbox);
  expect(answer).toBeProblem("binding_mismatch");
  expect(answer.error).toBeProblem("binding_mismatch");
  expect(() => unwrap(answer)).toThrow(expect.toBeProblem("binding_mismatch"));
  expect(answer).not.toBeProblem("not_found");
  expect(() => expect(answer).toBeProblem("not_found")).toThrow(
    /^Expected the problem not_found\.\n\nThe API responded with 422 binding_mismatch: .*\n(?:.*\n)* {2}✗ wallet: expected 0x/,
  );
});

test("toBeProblem refuses a value that is not an answer, even after .not", async ({
  sandbox: { client },
}) => {
  const asked = client.GET("/v1/routing/capabilities");
  expect(() => expect(asked).not.toBeProblem("not_found")).toThrow(
    "Expected a response, got a promise. Await it first.",
  );
  const answer = await asked;
  expect(answer.error).not.toBeProblem("not_found");
  for (const [received, shown] of [
    [answer.data, '{"service":"routing-sandbox"'],
    [5, "5"],
    [null, "null"],
  ] as const)
    expect(() => expect(received).not.toBeProblem("not_found")).toThrow(
      `Expected a response of the API, its error or a ProblemError, got ${shown}`,
    );
});

test("toBeAcceptedAs refuses an object that has no id", async ({ sandbox }) => {
  const { payments } = await sandbox.given.purchase({ state: "paid" });
  for (const [object, shown] of [
    [null, "null"],
    [5, "5"],
    [{ id: 5 }, '{"id":5}'],
  ]) {
    const asserted = expect(payments[0]?.transaction_hash);
    const accepted: Promise<void> = Reflect.apply(asserted.toBeAcceptedAs, asserted, ["payment", object]);
    expect(await messageOf(accepted)).toBe(`Expected an object with an id, or its id, got ${shown}.`);
  }
});

test("toBeAcceptedAs refuses an id that no object has, even after .not", async ({ sandbox }) => {
  const { payments, claim, merchant } = await sandbox.given.purchase({ state: "claimed" });
  const { purchase: other } = await sandbox.given.purchase({ state: "created" });
  const hash = payments[0]?.transaction_hash;
  for (const id of ["pur_aaaaaaaaaaaaaaaaaaaa", claim.id, ""]) {
    const message = `No merchant and no purchase has the id "${id}". Pass one that the API has returned, or its id.`;
    expect(await messageOf(expect(hash).toBeAcceptedAs("payment", id))).toBe(message);
    expect(await messageOf(expect(hash).not.toBeAcceptedAs("payment", id))).toBe(message);
  }
  await expect(hash).not.toBeAcceptedAs("payment", other);
  await expect(hash).not.toBeAcceptedAs("payment", merchant);
});

test("toBeProblem prints the data of an answer that is not a problem", async ({ sandbox: { client } }) => {
  const answer = await client.GET("/v1/routing/capabilities");
  expect(() => expect(answer).toBeProblem("not_found")).toThrow(
    /^Expected the problem not_found\.\n\n\{"service":"routing-sandbox"/,
  );
});

test("toHaveFingerprint expects the digest of a sandbox or a fingerprint", async ({ sandbox }) => {
  const fingerprint = await sandbox.fingerprint();
  await expect(sandbox).toHaveFingerprint(fingerprint.digest);
  await expect(fingerprint).toHaveFingerprint(fingerprint.digest);
  const message = await messageOf(expect(sandbox).toHaveFingerprint(none));
  expect(message.split("\n")[0]).toBe(`Expected the fingerprint ${none}, got ${fingerprint.digest}.`);
  expect(message).toContain(fingerprint.block.hash);
});

test("a negated assertion that fails prints what was not expected", async ({ sandbox }) => {
  const { refund, purchase } = await sandbox.given.purchase({ state: "refunded" });
  const { answer, transaction_hash } = await strangePayment(sandbox);
  const { digest } = await sandbox.fingerprint();
  const messages = [
    await messageOf(expect(refund.transaction_hash).not.toBeAcceptedAs("refund", purchase)),
    await messageOf(expect(transaction_hash).not.toBeRefusedBy("wallet")),
    await messageOf((async () => expect(answer).not.toBeProblem("binding_mismatch"))()),
    await messageOf(expect(sandbox).not.toHaveFingerprint(digest)),
  ];
  expect(messages.map((message) => message.split("\n")[0]?.split(";")[0])).toEqual([
    `Expected no acceptance as refund of ${purchase.id}. It is accepted as refund of ${purchase.id}: ${refund.transaction_hash}`,
    "Expected no refusal by wallet",
    "Expected a problem other than binding_mismatch.",
    `Expected a fingerprint other than ${digest}, got ${digest}.`,
  ]);
});

test("an assertion that is not awaited passes with its test", async ({ sandbox }) => {
  const { refund, purchase } = await sandbox.given.purchase({ state: "refunded" });
  expect(refund.transaction_hash).toBeAcceptedAs("refund", purchase);
});

test.fails("an assertion that is not awaited fails its test", async ({ sandbox }) => {
  const { refund, purchase } = await sandbox.given.purchase({ state: "refunded" });
  expect(refund.transaction_hash).toBeAcceptedAs("payment", purchase);
});

test("the matchers are a plain object that any runner can install", async ({ sandbox }) => {
  const matchers = sandboxMatchers(() => sandbox);
  expect(Object.keys(matchers)).toEqual([
    "toBeAcceptedAs",
    "toBeRefusedBy",
    "toBeProblem",
    "toHaveFingerprint",
  ]);
  const { refund } = await sandbox.given.purchase({ state: "refunded" });
  const matched = await matchers.toBeAcceptedAs.call(undefined, refund.transaction_hash, "refund");
  expect(matched.pass).toBe(true);
  const without = sandboxMatchers(() => undefined);
  await expect(without.toBeAcceptedAs.call(undefined, none, "refund")).rejects.toThrow(
    "No sandbox belongs to this test. Take it from sandboxTest, or use sandboxMatchers().",
  );
});

test("the matchers accept only existing steps, checks, codes and digests, even after .not", async ({
  sandbox,
}) => {
  const { answer, purchase, transaction_hash } = await strangePayment(sandbox);
  const noStep =
    'There is no step "payments". Use enrollment, funding approval, offer, registration, payment approval, payment, claim, refund.';
  const noCheck =
    'There is no check "wallets". Use chain, mined, confirmations, canonical, status, wallet, contract, value, calldata, purchase, log, unused, timely.';
  const noCode = 'There is no error code "binding_mismatches". Use one of those that docs/api.md lists.';
  const missing: string = JSON.parse("{}").digest;
  const noDigest = "Pass the digest of sandbox.fingerprint().";
  for (const expected of [expect(transaction_hash), expect(transaction_hash).not]) {
    // @ts-expect-error there is no such step
    expect(await messageOf(expected.toBeAcceptedAs("payments"))).toBe(noStep);
    // @ts-expect-error there is no such check
    expect(await messageOf(expected.toBeRefusedBy("wallet", "wallets"))).toBe(noCheck);
    // @ts-expect-error a purchase is no step
    expect(await messageOf(expected.toBeAcceptedAs(purchase))).toMatch(
      /^There is no step that is an object\. Use /,
    );
  }
  for (const expected of [expect(answer), expect(answer).not]) {
    // @ts-expect-error there is no such code
    expect(() => expected.toBeProblem("binding_mismatches")).toThrow(noCode);
    // @ts-expect-error there is no such check
    expect(await messageOf(expected.toBeRefusedBy("wallets"))).toBe(noCheck);
  }
  for (const expected of [expect(sandbox), expect(sandbox).not])
    expect(await messageOf(expected.toHaveFingerprint(missing))).toBe(noDigest);
});

test("a matcher of a hash names the field to pass instead of an object", async ({ sandbox }) => {
  const { purchase } = await sandbox.given.purchase({ state: "paid" });
  const message = "Expected a transaction hash, got an object; pass .transaction_hash.";
  expect(await messageOf(expect(purchase).toBeAcceptedAs("payment"))).toBe(message);
  expect(await messageOf(expect(purchase).not.toBeRefusedBy())).toBe(message);
});
