import type { Hex } from "viem";
import { afterAll, afterEach, beforeAll, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { attacks } from "../../../check-contract/attacks/all.ts";
import { ContractFixture } from "../../../check-contract/fixture/contract-fixture.ts";
import { usdc } from "../../../protocol/values/amount.ts";
import { isProblem, ProblemError } from "../../../sandbox/client/problem-error.ts";
import { createSandbox } from "../../../sandbox/create-sandbox.ts";
import { explanationSchema } from "../../../sandbox/explain/explanation.ts";
import { problemSchema } from "../../../server/schemas/problem.ts";
import { renderExplanation } from "../../../testkit/explanations/render-explanation.ts";
import { temporaryFolder } from "../../temporary-folder.ts";
import { runExplain } from "./signatures/signing.ts";

let fixture: ContractFixture;
beforeAll(async () => {
  fixture = await ContractFixture.open();
});
afterEach(async () => await fixture.reset());
afterAll(async () => await fixture.close());

async function explain(hash: Hex) {
  const { control } = fixture.sandbox.description.urls;
  const response = await fetch(`${control}/explain/${hash}`);
  expect(response.status).toBe(200);
  return explanationSchema.parse(await response.json());
}

test("a valid payment would be accepted, and is reported as what it is", async () => {
  const explanation = await explain(await fixture.succeed("buyer", fixture.pay(fixture.purchase)));
  const { id } = fixture.purchase;
  expect(explanation).toMatchObject({
    accepted: true,
    step: "payment",
    subject: id,
    cause: `It is accepted as payment of ${id}.`,
  });
  expect(explanation.logs.map(({ contract, event }) => [contract, event])).toEqual([
    ["the registrar contract", "PurchasePaid"],
    ["the token contract", "Transfer"],
  ]);
  expect(explanation.trace?.calls.at(-1)?.call).toMatch(/^(transferFrom|balanceOf)\(/);
});

test("a payment under a permit is reported as the payment that it is, with the permit's approval", async () => {
  const explanation = await explain(await fixture.succeed("buyer", fixture.payWithPermit(fixture.purchase)));
  const { id } = fixture.purchase;
  const told = { accepted: true, step: "payment", subject: id, cause: `It is accepted as payment of ${id}.` };
  expect(explanation).toMatchObject(told);
  expect(explanation.call).toMatchObject({ function: "payWithPermit", expected_function: "payWithPermit" });
  expect(explanation.logs.map(({ contract, event }) => [contract, event])).toEqual([
    ["the registrar contract", "PurchasePaid"],
    ["the token contract", "Approval"],
    ["the token contract", "Transfer"],
  ]);
});

test("a permit that the token refuses is reported with the token's own reason", async () => {
  await fixture.succeed("buyer", fixture.approve(0n));
  const permit = fixture.permit(fixture.purchase, 1n);
  const explanation = await explain(
    await fixture.send("buyer", fixture.payWithPermit(fixture.purchase, 10n * usdc, permit)),
  );
  expect(explanation).toMatchObject({ accepted: false, step: "payment", subject: fixture.purchase.id });
  expect(explanation.cause).toBe(
    `It reverted: PermitRefused(token ${fixture.contracts.token}, reason Error(message EIP2612: invalid signature)).`,
  );
});

test("the explanation of a transaction of an impersonated account says that its sender did not sign it", async () => {
  const { client } = fixture;
  const address = fixture.address("buyer");
  await client.impersonateAccount({ address });
  onTestFinished(() => client.stopImpersonatingAccount({ address }));
  const { to, data } = fixture.pay(fixture.purchase);
  const hash = await client.request<{
    Method: "eth_sendTransaction";
    Parameters: [{ from: Hex; to: Hex; data: Hex }];
    ReturnType: Hex;
  }>({ method: "eth_sendTransaction", params: [{ from: address, to, data }] });
  const reason =
    "It carries no signature of its sender, which the node impersonated, so that no step accepts it.";
  const explanation = await explain(hash);
  expect(explanation).toMatchObject({ accepted: false, step: "payment", cause: reason });
  const answer = await fixture.reconcile(fixture.purchase, [hash]);
  const { binding } = problemSchema.parse(answer.body);
  expect(binding?.checks.filter(({ ok }) => !ok)).toMatchObject([
    { name: "canonical", expected: { transaction_hash: hash }, actual: { transaction_hash: null, reason } },
    { name: "wallet", expected: address, actual: null },
  ]);
});

test("every kind of step is found by its calldata", async () => {
  const enrolled = (await fixture.sandbox.store.get("merchants", fixture.merchant.id))?.value.enrollment;
  const { hash } = await fixture.paidAndClaimed();
  const kinds = await Promise.all(
    [
      enrolled?.transaction_hash ?? "0x",
      hash,
      await fixture.succeed("buyer", fixture.approve(25n * usdc)),
      await fixture.succeed("merchant", fixture.approve(500n * usdc, fixture.contracts.funding_source)),
      await fixture.succeed("merchant", await fixture.registration(fixture.draft)),
    ].map(explain),
  );
  expect(kinds.map(({ step, accepted }) => [step, accepted])).toEqual([
    ["enrollment", true],
    ["claim", true],
    ["payment approval", true],
    ["funding approval", true],
    ["registration", true],
  ]);
});

test("a claim after one was filed is compared with the filed one", async () => {
  const { claim_hash } = await fixture.claimed();
  const other = fixture.claim(fixture.purchase, 9n * usdc);
  const explanation = await explain(await fixture.send("beneficiary", other.call));
  expect(explanation).toMatchObject({ accepted: false, step: "claim", subject: fixture.purchase.id });
  expect(explanation.cause).toBe(`In claim, claimHash is "${other.hash}"; "${claim_hash}" was expected.`);
});

test("a stranger's payment is reported with its sender first and the custom error decoded", async () => {
  const explanation = await explain(await fixture.send("stranger", fixture.pay(fixture.purchase)));
  expect(explanation.cause).toBe(
    `It was sent by ${fixture.address("stranger")}; the bound wallet is ${fixture.address("buyer")}.`,
  );
  expect(explanation.revert).toMatchObject({
    name: "WrongCaller",
    args: { actual: fixture.address("stranger"), expected: fixture.address("buyer") },
  });
});

test("an overpayment is reported with the contract's own reason", async () => {
  const explanation = await explain(await fixture.send("buyer", fixture.pay(fixture.purchase, 26n * usdc)));
  expect(explanation.cause).toBe(
    "It reverted: AmountOutOfRange(value amount, actual 26000000, min 1, max 25000000).",
  );
});

test("calldata that differs is shown next to the expected one, with the differing bytes marked", async () => {
  const lookalike = await fixture.deploy("LookalikeRegistrar");
  const explanation = await explain(await fixture.succeed("buyer", fixture.approve(25n * usdc, lookalike)));
  expect(explanation.cause).toContain("In approve, spender is");
  const spender = explanation.call?.fields.find(({ name }) => name === "spender");
  expect(spender).toEqual({
    name: "spender",
    expected: fixture.contracts.registrar,
    actual: expect.stringMatching(new RegExp(lookalike, "i")),
    equal: false,
  });
  const differing = explanation.call?.words.filter((word) => word.differing.length > 0) ?? [];
  expect(differing.map(({ offset }) => offset)).toEqual([4]);
  expect(Math.min(...(differing[0]?.differing ?? []))).toBeGreaterThanOrEqual(12);
});

test("another encoding of the same arguments is distinguished from a wrong argument", async () => {
  const { to, data } = fixture.approve(25n * usdc);
  const explanation = await explain(await fixture.succeed("buyer", { to, data: `${data}00` }));
  expect(explanation.cause).toBe(
    "The call of approve has the right arguments, but 1 byte too many: 00 at byte 68.",
  );
  expect(explanation.call?.words.at(-1)).toEqual({
    offset: 68,
    expected: "",
    actual: "00",
    differing: [0],
    field: null,
  });
  const plain = renderExplanation(explanation, false);
  expect(plain).toContain("  byte 68\n    expected the end of the calldata\n    actual   00\n");
  expect(plain).toContain("  ✗ calldata: expected the end of the calldata at byte 68, is 0x00\n");
});

test("the first wrong byte is named with its argument", async () => {
  const { data, to } = fixture.pay(fixture.purchase);
  const before = fixture.address("buyer").slice(2, 12);
  const altered: Hex = `0x${data.slice(2, 20)}${before}${data.slice(30)}`;
  const other = await fixture.send("buyer", { to, data: altered });
  const { call } = await explain(other);
  expect(call?.words.map(({ field }) => field)).toEqual([null, "id", null]);
  const spender = fixture.address("stranger");
  const approval = await explain(await fixture.succeed("buyer", fixture.approve(25n * usdc, spender)));
  const [word] = approval.call?.words.filter(({ differing }) => differing.length > 0) ?? [];
  expect(word).toMatchObject({ offset: 4, field: "spender" });
  const byte = 4 + (word?.differing[0] ?? 0);
  expect(byte).toBeGreaterThanOrEqual(16);
  expect(renderExplanation(approval, false)).toContain(`  byte ${byte} (in spender)\n    expected `);
});

test("an accepted transaction says so once", async () => {
  const { hash, id } = {
    hash: await fixture.succeed("buyer", fixture.approve(25n * usdc)),
    id: fixture.purchase.id,
  };
  const plain = renderExplanation(await explain(hash), false);
  expect(plain.split("accepted as payment approval")).toHaveLength(2);
  expect(plain).toContain(id);
});

test("a missing log is shown with the events that were expected, in explain and in a problem", async () => {
  const hash = await fixture.send("buyer", fixture.pay(fixture.purchase, 26n * usdc));
  const plain = renderExplanation(await explain(hash), false);
  expect(plain).toMatch(
    / {2}✗ log: expected PurchasePaid\(.*amount 26000000.*\), Transfer\(.*\); there is none\n/,
  );
  const answer = await fixture.reconcile(fixture.purchase, [hash]);
  expect(new ProblemError(isProblem(answer.body) ? answer.body : JSON.parse("{}")).message).toMatch(
    / {2}✗ log: expected PurchasePaid\(.*\), Transfer\(.*\); there is none\n/,
  );
});

test("truncated calldata is recognized by its remaining bytes, for every step", async () => {
  const { purchase, draft } = fixture;
  const calls = [
    ["approve", "buyer", fixture.approve(256n * usdc)],
    ["register", "merchant", await fixture.registration(draft)],
    ["claim", "beneficiary", fixture.claim(purchase).call],
  ] as const;
  for (const [name, wallet, { to, data }] of calls) {
    const { call } = await explain(await fixture.send(wallet, { to, data: `0x${data.slice(2, -2)}` }));
    expect(call).toMatchObject({ function: name, expected_function: name, canonical: false });
  }
});

test("a payment through a contract is found in the trace and refused", async () => {
  const attack = attacks.find(({ name }) => name.startsWith("a payment that reverts inside a try/catch"));
  const answer = await attack?.run(fixture);
  const { explain: link } = z.object({ explain: z.url() }).parse(answer?.body);
  const explanation = explanationSchema.parse(await (await fetch(link)).json());
  expect(explanation.cause).toMatch(/^It calls 0x\w+ \(an unknown address\); the bound contract is/);
  expect(explanation.trace?.calls[0]).toMatchObject({ contract: "the registrar contract" });
  expect(explanation.trace?.calls[0]?.failure).toMatch(/^WrongCaller\(/);
});

test("a transaction about no purchase is not accepted, and an unknown transaction is named as such", async () => {
  const gift = await fixture.succeed("other_merchant", {
    to: fixture.address("stranger"),
    data: "0x",
    value: 1n,
  });
  expect(await explain(gift)).toMatchObject({ accepted: false, step: null, checks: [] });
  expect((await explain(fixture.purchase.commitment.hash)).cause).toMatch(/^The chain has no transaction/);
});

test("a value that is not a hash is refused with a sentence", async () => {
  const { control } = fixture.sandbox.description.urls;
  const response = await fetch(`${control}/explain/0x12`);
  expect(response.status).toBe(422);
  expect(await response.json()).toMatchObject({
    detail: expect.stringContaining("/hash must be 0x and 64 lower-case hexadecimal characters"),
  });
});

test("a terminal shows the verdict, the cause, the marked bytes and the calls", async () => {
  const hash = await fixture.succeed("buyer", fixture.approve(25n * usdc, fixture.address("stranger")));
  const explanation = await fixture.sandbox.explain(hash);
  const plain = renderExplanation(explanation, false);
  expect(plain).toContain(`${hash}  not accepted as payment approval of pur_`);
  expect(plain).toMatch(
    /byte 1[67] \(in spender\)\n {4}expected [0-9a-f]{64}\n {4}actual {3}[0-9a-f]{64}\n {13} *(\^\^)+/,
  );
  const [spender, registrar] = [fixture.address("stranger"), fixture.contracts.registrar];
  expect(plain).toMatch(
    new RegExp(
      `✗ log: expected Approval\\(.*spender ${registrar}.*\\); there is Approval\\(.*spender ${spender}.*\\)\n`,
    ),
  );
  expect(plain).toMatch(/✗ calldata: expected 0x[0-9a-f]{38,40} at byte 1[67], is 0x[0-9a-f]{38,40}\n/);
  expect(plain).not.toContain("\u001b[");
  expect(renderExplanation(explanation, true)).toContain("\u001b[31m");
});

test("the command explains on the running sandbox, in words and as JSON, and answers by its exit code", async () => {
  const folder = await temporaryFolder();
  await using sandbox = await createSandbox({ seed: "explain", dataDirectory: folder });
  const { transaction_hash: hash } = await sandbox.wallets.stranger.send({
    to: sandbox.description.contracts.registrar,
    data: "0x",
  });
  const [told, json] = [await runExplain(folder, [hash]), await runExplain(folder, [hash, "--json"])];
  expect(told).toMatchObject({
    code: 1,
    stdout: expect.stringContaining("It does not involve a merchant or a purchase"),
  });
  expect(explanationSchema.parse(JSON.parse(json.stdout))).toMatchObject({
    transaction_hash: hash,
    accepted: false,
  });
});

test("every attack that is refused has a cause", { tags: "thorough" }, async () => {
  for (const attack of attacks) {
    if (attack.stopped.code !== "binding_mismatch" || attack.stopped.status !== 422) continue;
    await fixture.reset();
    const answer = await attack.run(fixture);
    const parsed = z.object({ explain: z.url().optional() }).parse(answer.body);
    if (parsed.explain === undefined) continue;
    const { cause } = await fixture.sandbox.explain(`0x${parsed.explain.slice(-64)}`);
    expect(cause, attack.name).toMatch(/^[A-Z].*\.$/);
  }
});
