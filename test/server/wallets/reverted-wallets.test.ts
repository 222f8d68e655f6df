import { encodeFunctionData, type Hex, keccak256, toHex } from "viem";
import { describe, expect, test } from "vitest";
import { purchaseRegistrarAbi } from "../../../protocol/abi.generated.ts";
import { type Call, claimCall, payBatchCall, payCall } from "../../../protocol/call.ts";
import { hashId } from "../../../protocol/values/id.ts";
import { toTimestamp } from "../../../protocol/values/time.ts";
import { type Answer, problem, type Schema } from "../../kit/answer.ts";
import { resetBeforeEach } from "../../kit/reset-before-each.ts";
import { TestKit } from "../../kit/test-kit.ts";

let kit: TestKit;
let merchant: Schema<"Merchant">;

resetBeforeEach(async () => {
  kit = await TestKit.shared({ receiptTimeoutMs: 30_000 });
  merchant = await kit.fundedMerchant();
  return kit;
});

const registrar = () => kit.sandbox.chain.deployment.registrar.address;

/** Sends a call of a wallet that reverts. */
async function revert(wallet: string, { to, data }: Pick<Call, "to" | "data">): Promise<Hex> {
  const {
    transaction_hash: transactionHash,
    receipt: { status },
  } = await kit.wallet(wallet).send({ to, data });
  expect(status).toBe("reverted");
  return transactionHash;
}

async function pay(purchase: Schema<"Purchase">, amount: bigint): Promise<Hex> {
  return await revert("buyer", payCall(registrar(), purchase.commitment.hash, amount));
}

/** Sends a transaction that the wallet route showed before something came between. */
async function revertShown(wallet: string, shown: { to: string; data: string } | undefined): Promise<Hex> {
  if (shown === undefined) throw new Error("The wallet route shows a transaction.");
  return await revert(wallet, { to: `0x${shown.to.slice(2)}`, data: `0x${shown.data.slice(2)}` });
}

async function revoke(): Promise<string> {
  await kit.sandbox.wallets.merchant.revokeFunding(merchant);
  return toTimestamp(await kit.sandbox.clock.now());
}

async function pause(paused: boolean): Promise<void> {
  const args = [hashId(kit.program), paused] as const;
  const data = encodeFunctionData({ abi: purchaseRegistrarAbi, functionName: "setPaused", args });
  expect((await kit.wallet("deployer").send({ to: registrar(), data })).receipt.status).toBe("success");
}

/** The refusals of a transaction by its operation and by the wallet route. */
async function refusals(
  operation: { path: string; body: object },
  submission: { path: string; body: object },
): Promise<Answer[]> {
  return [
    await kit.post(kit.path(operation.path), operation.body),
    await kit.post(`/wallet/${kit.program}/${submission.path}`, submission.body),
  ];
}

async function refusalsOfPayment({ id }: Schema<"Purchase">, hash: Hex): Promise<Answer[]> {
  return await refusals(
    { path: `/purchases/${id}/reconcile`, body: { transaction_hashes: [hash] } },
    { path: `purchase/${id}`, body: { action: "pay", transaction_hash: hash } },
  );
}

async function refusalsOfRegistration({ id }: Schema<"Purchase">, hash: Hex): Promise<Answer[]> {
  return await refusals(
    { path: `/purchases/${id}/registration`, body: { transaction_hash: hash } },
    { path: `purchase/${id}`, body: { action: "register", transaction_hash: hash } },
  );
}

function expectReverted(answers: readonly Answer[], detail: string, error: string | null): void {
  for (const answer of answers) {
    expect(answer.status, answer.text).toBe(422);
    const refused = problem(answer);
    expect(refused).toMatchObject({ code: "transaction_reverted", retryable: false, detail });
    if (error === null) expect(refused.revert).toBeNull();
    else expect(refused.revert).toMatchObject({ name: error });
    const failed = refused.binding?.checks.filter(({ ok }) => !ok).map(({ name }) => name);
    expect(failed).toContain("status");
  }
}

describe("a wallet's transaction that reverted says why and what to do:", () => {
  test("a payment after the refund, which no new one can make", async () => {
    const { purchase, decision } = await kit.approvedPurchase(merchant);
    const done = await kit.post(kit.path(`/purchases/${purchase.id}/refunds`), { decision_id: decision.id });
    expect(done.status, done.text).toBe(201);
    expectReverted(
      await refusalsOfPayment(purchase, await pay(purchase, 1n)),
      `The transaction of the payment reverted: a refund of this purchase was collected already, under the decision hash ${decision.decision_hash}. No new transaction succeeds.`,
      "AlreadyRefunded",
    );
  });

  test("a payment of a purchase that is paid, for which nothing is left to pay", async () => {
    const purchase = await kit.paidPurchase(merchant);
    expectReverted(
      await refusalsOfPayment(purchase, await pay(purchase, 1n)),
      "The transaction of the payment reverted: the purchase is fully paid. Nothing is left to pay.",
      "AmountOutOfRange",
    );
  });

  test("a payment of more than is outstanding, with what is", async () => {
    const purchase = await kit.activePurchase(merchant);
    expectReverted(
      await refusalsOfPayment(purchase, await pay(purchase, 25_000_001n)),
      "The transaction of the payment reverted: only 25000000 base units are outstanding. Let the buyer pay 25000000 in place of 25000001.",
      "AmountOutOfRange",
    );
  });

  test("a payment of more than was outstanding then, with what is outstanding now", async () => {
    const purchase = await kit.activePurchase(merchant);
    const hash = await pay(purchase, 25_000_001n);
    await kit.act("buyer", "purchase", purchase.id, "approve");
    await kit.act("buyer", "purchase", purchase.id, "pay", { amount: "20000000" });
    expectReverted(
      await refusalsOfPayment(purchase, hash),
      "The transaction of the payment reverted: only 5000000 base units are outstanding. Let the buyer pay 5000000 in place of 25000001.",
      "AmountOutOfRange",
    );
    await kit.act("buyer", "purchase", purchase.id, "pay", { amount: "5000000" });
    expectReverted(
      await refusalsOfPayment(purchase, hash),
      "The transaction of the payment reverted: the purchase is fully paid. Nothing is left to pay.",
      "AmountOutOfRange",
    );
  });

  test("a payment that would revert now for another reason than then", async () => {
    const purchase = await kit.activePurchase(merchant);
    const hash = await pay(purchase, 25_000_001n);
    const { pay_deadline } = purchase.deadlines;
    await kit.sandbox.clock.travelTo(pay_deadline + 1);
    await kit.renew();
    expectReverted(
      await refusalsOfPayment(purchase, hash),
      `The transaction of the payment reverted with AmountOutOfRange, and would revert now: the deadline was ${toTimestamp(pay_deadline)}. No new transaction succeeds.`,
      "AmountOutOfRange",
    );
  });

  test("a batch, with the payment in it that fails", async () => {
    const [paid, open] = [await kit.paidPurchase(merchant), await kit.activePurchase(merchant)];
    await kit.sandbox.wallets.buyer.approve(open, 25_000_000n);
    const batch = payBatchCall(registrar(), [open.commitment.hash, paid.commitment.hash], [1_000_000n, 1n]);
    expectReverted(
      await refusalsOfPayment(open, await revert("buyer", batch)),
      `The transaction of the payment reverted: payment 2 of the batch, of ${paid.id}, fails: the purchase is fully paid. Leave that payment out, then send a new transaction.`,
      "AmountOutOfRange",
    );
  });

  test("a payment without an approval", async () => {
    const purchase = await kit.activePurchase(merchant);
    expectReverted(
      await refusalsOfPayment(purchase, await pay(purchase, 25_000_000n)),
      "The transaction of the payment reverted: the buyer's allowance to the registrar contract does not cover the payment. Let the buyer approve the payment, then send a new transaction.",
      "Error",
    );
  });

  test("a payment of an offer that was withdrawn", async () => {
    const purchase = await kit.activePurchase(merchant);
    await kit.sandbox.wallets.deployer.setBounds(kit.program, {
      ...opened(),
      operator: kit.wallet("deployer").address,
    });
    const args = [purchase.commitment.hash] as const;
    const data = encodeFunctionData({ abi: purchaseRegistrarAbi, functionName: "withdrawOffer", args });
    expect((await kit.wallet("deployer").send({ to: registrar(), data })).receipt.status).toBe("success");
    expectReverted(
      await refusalsOfPayment(purchase, await pay(purchase, 1n)),
      "The transaction of the payment reverted: the offer of the purchase was withdrawn. Create a new purchase.",
      "WrongStatus",
    );
  });

  test("a payment that ran out of gas, which has no error of the contract", async () => {
    const purchase = await kit.activePurchase(merchant);
    await kit.act("buyer", "purchase", purchase.id, "approve");
    const { client } = kit.sandbox.chain;
    const raw = await kit.sign(
      "buyer",
      payCall(registrar(), purchase.commitment.hash, 25_000_000n),
      undefined,
      40_000n,
    );
    const hash = await client.sendRawTransaction({ serializedTransaction: raw });
    expect(keccak256(raw)).toBe(hash);
    expect((await kit.wallet("buyer").receipt(hash)).status).toBe("reverted");
    expectReverted(
      await refusalsOfPayment(purchase, hash),
      "The transaction of the payment reverted: it ran out of gas. Set a higher gas limit, then send a new transaction.",
      null,
    );
  });

  test("a registration after the merchant has revoked its enrollment, with the time", async () => {
    const purchase = await kit.createPurchase(merchant);
    const { transaction } = await kit.action("purchase", purchase.id, "register");
    const at = await revoke();
    const hash = await revertShown("merchant", transaction);
    expectReverted(
      await refusalsOfRegistration(purchase, hash),
      `The transaction of the registration reverted: the wallet of ${merchant.id} revoked its enrollment at ${at} and has no other. Let it enroll under a new merchant (POST …/merchants), then send a new transaction.`,
      "NotEnrolled",
    );
    await kit.enrolledMerchant();
    expectReverted(
      await refusalsOfRegistration(purchase, hash),
      `The transaction of the registration reverted: the chain had no enrollment of the wallet of ${merchant.id}. It has one now, so send it again.`,
      "NotEnrolled",
    );
  });

  test("a registration of a purchase that is on chain, even if something else would also refuse it now", async () => {
    const purchase = await kit.createPurchase(merchant);
    await kit.act("merchant", "purchase", purchase.id, "register");
    await revoke();
    expect(await kit.action("purchase", purchase.id, "register")).toMatchObject({
      allowed: false,
      why_not: "The transaction would revert: The purchase is on chain already.",
    });
  });

  test("a second registration, whose first one counts", async () => {
    const purchase = await kit.createPurchase(merchant);
    const { transaction } = await kit.action("purchase", purchase.id, "register");
    await kit.act("merchant", "purchase", purchase.id, "register");
    expectReverted(
      await refusalsOfRegistration(purchase, await revertShown("merchant", transaction)),
      "The transaction of the registration reverted: the purchase is on chain already. Confirm the transaction that registered it.",
      "PurchaseExists",
    );
  });

  test("a registration while the program is paused", async () => {
    const purchase = await kit.createPurchase(merchant);
    const { transaction } = await kit.action("purchase", purchase.id, "register");
    await pause(true);
    const hash = await revertShown("merchant", transaction);
    expectReverted(
      await refusalsOfRegistration(purchase, hash),
      "The transaction of the registration reverted: the program is paused. Let the program's admin end the pause, then send a new transaction.",
      "ProgramPaused",
    );
    await pause(false);
    expectReverted(
      await refusalsOfRegistration(purchase, hash),
      "The transaction of the registration reverted with ProgramPaused, which is no longer the case. Send a new transaction.",
      "ProgramPaused",
    );
  });

  test("the enrollment of a wallet's second merchant", async () => {
    const first = await kit.createMerchant("1000", "other_merchant");
    const second = await kit.createMerchant("1000", "other_merchant");
    await kit.sandbox.wallets.other_merchant.enroll(first);
    const wallet = kit.wallet("other_merchant");
    const transaction_hash = await revertShown("other_merchant", second.enrollment.transaction);
    const evidence = { transaction_hash, signature: await wallet.signMessage(second.enrollment.message) };
    expectReverted(
      await refusals(
        { path: `/merchants/${second.id}/enrollment`, body: evidence },
        { path: `merchant/${second.id}`, body: { action: "enroll", ...evidence } },
      ),
      "The transaction of the enrollment reverted: the wallet is enrolled in the program already. Let the wallet revoke that enrollment, then send a new transaction.",
      "AlreadyEnrolled",
    );
    await kit.sandbox.wallets.other_merchant.revokeFunding(first);
    await kit.sandbox.wallets.other_merchant.enroll(second);
  });

  test("an enrollment whose authorization another signer has signed than the program has now", async () => {
    const pending = await kit.createMerchant("1000", "other_merchant");
    const commitmentSigner = kit.wallet("stranger").address;
    await kit.sandbox.wallets.deployer.setBounds(kit.program, { ...opened(), commitmentSigner });
    const transaction_hash = await revertShown("other_merchant", pending.enrollment.transaction);
    const signature = await kit.wallet("other_merchant").signMessage(pending.enrollment.message);
    const evidence = { transaction_hash, signature };
    expectReverted(
      await refusals(
        { path: `/merchants/${pending.id}/enrollment`, body: evidence },
        { path: `merchant/${pending.id}`, body: { action: "enroll", ...evidence } },
      ),
      `The transaction of the enrollment reverted: the program's commitment signer on chain is ${commitmentSigner}, which has not signed this funding authorization. Let the program's admin set the signer of the funding authorization again, then send a new transaction.`,
      "InvalidSignature",
    );
  });

  test("a claim of a purchase that is claimed", async () => {
    const purchase = await kit.paidPurchase(merchant);
    const filed = await kit.claimBody(purchase);
    const call = claimCall(registrar(), purchase.commitment.hash, keccak256(toHex("another claim")));
    const hash = await revert("beneficiary", call);
    const { requested_amount: amount, reason } = filed;
    const claimed = { ...filed, transaction_hash: hash };
    for (const answer of await refusals(
      { path: `/purchases/${purchase.id}/claims`, body: claimed },
      { path: `purchase/${purchase.id}`, body: { action: "claim", transaction_hash: hash, amount, reason } },
    ))
      expect([answer.status, problem(answer).code], answer.text).toEqual([422, "binding_mismatch"]);
    const again = await revert(
      "beneficiary",
      claimCall(registrar(), purchase.commitment.hash, await claimHash(purchase)),
    );
    expectReverted(
      await refusals(
        { path: `/purchases/${purchase.id}/claims`, body: { ...filed, transaction_hash: again } },
        {
          path: `purchase/${purchase.id}`,
          body: { action: "claim", transaction_hash: again, amount, reason },
        },
      ),
      "The transaction of the claim reverted: the purchase is claimed already. File the claim that the chain has, with the transaction that made it.",
      "AlreadyClaimed",
    );
  });
});

/** The claim hash that the chain has of a purchase. */
async function claimHash(purchase: Schema<"Purchase">): Promise<Hex> {
  const { client } = kit.sandbox.chain;
  const registered = { address: registrar(), abi: purchaseRegistrarAbi } as const;
  const read = { ...registered, functionName: "figures", args: [purchase.commitment.hash] } as const;
  return (await client.readContract(read)).claimHash;
}

function opened() {
  const found = kit.sandbox.chain.deployment.programs.find(({ id }) => id === kit.program);
  if (found === undefined) throw new Error("The program is deployed.");
  return found;
}
