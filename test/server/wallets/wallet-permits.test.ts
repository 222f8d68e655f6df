import { TypedDataEncoder } from "ethers";
import { encodeFunctionData, type Hex, numberToHex, slice } from "viem";
import { describe, expect, test } from "vitest";
import { purchaseRegistrarAbi, testUsdcAbi } from "../../../protocol/abi.generated.ts";
import { contractWalletReason } from "../../../protocol/binding/check-binding.ts";
import { approveCall, decodeCall, payWithPermitCall } from "../../../protocol/call.ts";
import {
  type Permit,
  permitTypedData,
  signedPermit,
  tokenDomain,
} from "../../../protocol/messages/permit.ts";
import { type Answer, present, problem, type Schema } from "../../kit/answer.ts";
import { resetBeforeEach } from "../../kit/reset-before-each.ts";
import { TestKit } from "../../kit/test-kit.ts";

type Purchase = Schema<"Purchase">;
type Action = Schema<"Wallet">["actions"][number];
type Accepted = Schema<"WalletSubmissionResult">;

const amount = "10000000";
let kit: TestKit;
let merchant: Schema<"Merchant">;
let purchase: Purchase;

resetBeforeEach(async () => {
  kit = await TestKit.shared();
  merchant = await kit.enrolledMerchant();
  purchase = await kit.activePurchase(merchant);
  return kit;
});

/** Returns the action of the wallet route: the permit to sign, or the transaction. */
async function offered(of = amount): Promise<Action> {
  return await kit.action("purchase", purchase.id, "pay_with_permit", { amount: of });
}

/** The typed data that is to be signed. */
function typedDataOf({ sign, why_not }: Action) {
  if (sign?.method !== "eth_signTypedData_v4") throw new Error(`No permit is asked for: ${why_not}`);
  return sign;
}

/** The buyer's signature of the permit that the wallet route asks for. */
async function signed(of = amount): Promise<Hex> {
  return await kit.wallet("buyer").signTypedData(typedDataOf(await offered(of)).typed_data);
}

/** A signature over a permit that differs from the one that is asked for. */
async function signedOther(change: Partial<Permit>, signer = "buyer"): Promise<Hex> {
  const { chain, contracts } = kit.sandbox.description;
  const permit = {
    owner: purchase.buyer,
    spender: contracts.registrar,
    value: BigInt(amount),
    nonce: 0n,
    deadline: BigInt(purchase.deadlines.pay_deadline),
    ...change,
  };
  const domain = tokenDomain(chain.chain_id, contracts.token);
  return await kit.wallet(signer).signTypedData(permitTypedData(domain, permit));
}

async function submit(body: object, key?: string, to: { id: string } = purchase): Promise<Answer> {
  const path = `/wallet/${kit.program}/purchase/${to.id}`;
  return await kit.post(path, body, key === undefined ? {} : { "Idempotency-Key": key });
}

async function accepted(answer: Promise<Answer>): Promise<Accepted> {
  const { status, text } = await answer;
  expect(status, text).toBe(200);
  return JSON.parse(text);
}

/** Submits a permit and says what to send under it. */
async function permitted(signature: Hex, of = amount): Promise<NonNullable<Accepted["transaction"]>> {
  const body = { action: "pay_with_permit", signature, amount: of };
  const { transaction } = await accepted(submit(body));
  if (transaction === undefined) throw new Error("A permit that is accepted has a transaction.");
  return transaction;
}

/** The permit of a payment, as anyone can submit it to the token. */
function permitAlone({ data }: { data: Hex }): { to: Hex; data: Hex } {
  const args = decodeCall(purchaseRegistrarAbi, data)?.args ?? {};
  const { token, registrar } = kit.sandbox.description.contracts;
  const permit = encodeFunctionData({
    abi: testUsdcAbi,
    functionName: "permit",
    args: [
      purchase.buyer,
      registrar,
      BigInt(String(args["amount"])),
      BigInt(String(args["deadline"])),
      Number(args["v"]),
      `0x${String(args["r"]).slice(2)}`,
      `0x${String(args["s"]).slice(2)}`,
    ],
  });
  return { to: token, data: permit };
}

/** A stranger takes the permit out of a payment and submits it to the token first. */
async function runAhead(payment: { data: Hex }): Promise<void> {
  const {
    receipt: { status },
  } = await kit.wallet("stranger").send(permitAlone(payment));
  expect(status).toBe("success");
}

/** Has a payment reconciled and answers what is paid then. */
async function paidBy(transaction_hash: Hex): Promise<string> {
  const path = kit.path(`/purchases/${purchase.id}/reconcile`);
  const answer = await kit.post(path, { transaction_hashes: [transaction_hash] });
  expect(answer.status, answer.text).toBe(200);
  const { applied, purchase: reconciled } = present<Schema<"Reconciliation">>({
    data: JSON.parse(answer.text),
  });
  expect(applied.map((receipt) => receipt.transaction_hash)).toEqual([transaction_hash]);
  return reconciled.figures.paid;
}

async function allowance(): Promise<string> {
  const { text } = await kit.get(kit.path(`/purchases/${purchase.id}`));
  return present<Purchase>({ data: JSON.parse(text) }).figures.approved;
}

describe("a payment under a permit", () => {
  test("asks for the permit first, whose typed data any wallet hashes to the digest that is shown", async () => {
    const action = await offered();
    const { contracts, chain } = kit.sandbox.description;
    expect(action).toMatchObject({ allowed: true, why_not: null, amount });
    expect(action.transaction).toBeUndefined();
    const { typed_data, digest } = typedDataOf(action);
    expect(typed_data).toMatchObject({
      domain: {
        name: "USDC",
        version: "2",
        chainId: chain.chain_id,
        verifyingContract: contracts.token,
      },
      primaryType: "Permit",
      message: {
        owner: purchase.buyer,
        spender: contracts.registrar,
        value: amount,
        nonce: "0",
        deadline: String(purchase.deadlines.pay_deadline),
      },
    });
    const { EIP712Domain, ...types } = typed_data.types;
    expect(EIP712Domain).toHaveLength(4);
    expect(TypedDataEncoder.hash(typed_data.domain, types, typed_data.message)).toBe(digest);
  });

  test("names the transaction once the permit was submitted, and that one pays in one transaction", async () => {
    const signature = await signed();
    const transaction = await permitted(signature);
    expect(transaction).toMatchObject({
      from: purchase.buyer,
      to: kit.sandbox.description.contracts.registrar,
      value: "0",
      function: "payWithPermit",
      args: { id: purchase.commitment.hash, amount, r: slice(signature, 0, 32), s: slice(signature, 32, 64) },
    });
    for (const action of [await offered(), await kit.action("purchase", purchase.id, "pay_with_permit")]) {
      expect(action).toMatchObject({ allowed: true, transaction, amount });
      expect(action.sign).toBeUndefined();
    }

    expect(await allowance()).toBe("0");
    const { transaction_hash: transactionHash } = await kit.wallet("buyer").send(transaction);
    await accepted(submit({ action: "pay", transaction_hash: transactionHash, amount }));
    expect(await paidBy(transactionHash)).toBe(amount);
    expect(await allowance()).toBe("0");
  });

  test("without an amount is of all that is outstanding", async () => {
    const action = await kit.action("purchase", purchase.id, "pay_with_permit");
    const signature = await kit.wallet("buyer").signTypedData(typedDataOf(action).typed_data);
    const { submission, transaction } = await accepted(submit({ action: "pay_with_permit", signature }));
    expect(submission).toMatchObject({ amount: purchase.amount, signature, transaction_hash: null });
    expect(transaction?.args).toMatchObject({ amount: purchase.amount });
  });

  test("asks for a new permit with the next nonce once one has paid", async () => {
    const { transaction_hash: transactionHash } = await kit
      .wallet("buyer")
      .send(await permitted(await signed()));
    await paidBy(transactionHash);
    const next = typedDataOf(await offered());
    expect(next.typed_data.message).toMatchObject({ nonce: "1", value: amount });
    const second = await kit.wallet("buyer").send(await permitted(await signed()));
    expect(await paidBy(second.transaction_hash)).toBe("20000000");
  });

  test("asks for another permit where another amount is to be paid", async () => {
    await permitted(await signed());
    expect(typedDataOf(await offered("7")).typed_data.message).toMatchObject({ value: "7" });
  });

  test("is what the buyer's test wallet sends, at once or with a permit that it signed before", async () => {
    const { buyer } = kit.sandbox.wallets;
    const whole = await buyer.pay(purchase, { permit: true, amount: 5_000_000n });
    expect(whole.call).toMatchObject({ function: "payWithPermit", args: { amount: "5000000" } });
    expect(await paidBy(whole.transaction_hash)).toBe("5000000");
    const permit = await buyer.signPermit(purchase, 7_000_000n);
    const later = await buyer.pay(purchase, { permit, amount: 7_000_000n });
    expect(await paidBy(later.transaction_hash)).toBe("12000000");
    await buyer.approve(purchase, 1n);
    const plain = await buyer.pay(purchase, { amount: 1n });
    expect(plain.call.function).toBe("pay");
    expect(await paidBy(plain.transaction_hash)).toBe("12000001");
  });
});

describe("a permit that another account submits first", () => {
  test("after it was submitted here still pays", async () => {
    const transaction = await permitted(await signed());
    await runAhead(transaction);
    expect(await offered()).toMatchObject({ allowed: true, transaction });
    const { transaction_hash: transactionHash } = await kit.wallet("buyer").send(transaction);
    expect(await paidBy(transactionHash)).toBe(amount);
    expect(await allowance()).toBe("0");
  });

  test("before it is submitted here is accepted and still pays", async () => {
    const signature = await signed();
    await runAhead(paymentUnder(signature));
    const { transaction_hash: transactionHash } = await kit.wallet("buyer").send(await permitted(signature));
    expect(await paidBy(transactionHash)).toBe(amount);
  });

  test("of the test wallet still pays", async () => {
    const { buyer } = kit.sandbox.wallets;
    const permit = await buyer.signPermit(purchase, BigInt(amount));
    const signature: Hex = `${permit.r}${permit.s.slice(2)}${permit.v.toString(16)}`;
    await runAhead(paymentUnder(signature));
    const sent = await buyer.pay(purchase, { permit, amount: BigInt(amount) });
    expect(sent.receipt.status).toBe("success");
    expect(await paidBy(sent.transaction_hash)).toBe(amount);
  });
});

describe("a permit is refused before anything is sent, and nothing is recorded", () => {
  async function refused(body: { signature: Hex; amount?: string }, on: { id: string } = purchase) {
    const digest = await kit.digest();
    const answer = await submit({ action: "pay_with_permit", amount, ...body }, undefined, on);
    expect(await kit.digest()).toBe(digest);
    return problem(answer);
  }

  test("when another account signed it", async () => {
    const signature = await signedOther({}, "stranger");
    const stranger = kit.wallet("stranger").address;
    expect(await refused({ signature })).toMatchObject({
      status: 422,
      code: "signer_mismatch",
      detail: `The signature recovers to ${stranger}, not to ${purchase.buyer}: another account signed, or the signed data is not that of this step. Sign exactly the data of this step with ${purchase.buyer}.`,
      errors: [{ pointer: "/signature", code: "signature", detail: `must be by ${purchase.buyer}` }],
      expected_signer: purchase.buyer,
      actual_signer: stranger,
    });
  });

  test.each<[string, Partial<Permit>]>([
    ["another amount", { value: 10_000_001n }],
    ["another spender", { spender: "0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65" }],
    ["another owner", { owner: "0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65" }],
    ["a later nonce", { nonce: 1n }],
    ["a deadline that has passed", { deadline: 1n }],
    ["no deadline", { deadline: 2n ** 256n - 1n }],
  ])("when it says %s", async (_, change) => {
    const answer = await refused({ signature: await signedOther(change) });
    expect(answer).toMatchObject({
      status: 422,
      code: "signer_mismatch",
      errors: [{ pointer: "/signature", code: "signature", detail: `must be by ${purchase.buyer}` }],
      expected_signer: purchase.buyer,
    });
  });

  test("when its signature has another form", async () => {
    const signature = await signed();
    const compact: Hex = `0x${signature.slice(2, 130)}`;
    expect(await refused({ signature: compact })).toMatchObject({
      status: 422,
      code: "signature_invalid",
      detail: `The signature is malformed: it needs 65 bytes (r, s and v) with a low s. Sign these bytes with ${purchase.buyer}, and send the signature that the wallet returns.`,
      errors: [{ pointer: "/signature" }],
    });
  });

  test("when it has paid already", async () => {
    const { buyer } = kit.sandbox.wallets;
    const permit = await buyer.signPermit(purchase, BigInt(amount));
    await buyer.pay(purchase, { permit, amount: BigInt(amount) });
    const signature: Hex = `${permit.r}${permit.s.slice(2)}${permit.v.toString(16)}`;
    expect(await refused({ signature })).toMatchObject({
      status: 409,
      code: "state_conflict",
      detail: outdated(0, 1),
      errors: [{ pointer: "/signature", code: "nonce_used", detail: "must sign a permit with nonce 1" }],
      current_state: "active",
    });
  });

  test("when its nonce was used by other permits, and the nonce that the token expects is named", async () => {
    const { buyer } = kit.sandbox.wallets;
    const signature = await signedOther({ nonce: 0n });
    const other = await kit.activePurchase(merchant);
    for (const next of [1, 2, 3]) {
      await buyer.pay(other, { permit: true, amount: 1_000n });
      expect(await refused({ signature })).toMatchObject({
        status: 409,
        code: "state_conflict",
        detail: outdated(0, next),
        errors: [
          { pointer: "/signature", code: "nonce_used", detail: `must sign a permit with nonce ${next}` },
        ],
      });
    }
    await buyer.approve(purchase, BigInt(amount));
    expect(await refused({ signature })).toMatchObject({ status: 409, detail: outdated(0, 3) });
    expect(typedDataOf(await offered()).typed_data.message).toMatchObject({ nonce: "3" });
    await permitted(await signed());
  });

  test("when its nonce was used and the pay deadline has passed, which is reported first", async () => {
    const { buyer } = kit.sandbox.wallets;
    const signature = await signedOther({ nonce: 0n });
    const other = await kit.activePurchase(merchant);
    for (const paid of [1n, 2n]) await buyer.pay(other, { permit: true, amount: paid });
    await kit.sandbox.clock.travelTo(purchase.deadlines.pay_deadline);
    expect(await refused({ signature })).toMatchObject({ status: 409, code: "deadline_passed" });
  });

  test("when another account signed it for a nonce that was used", async () => {
    const { buyer } = kit.sandbox.wallets;
    const signature = await signedOther({ nonce: 0n }, "stranger");
    await buyer.pay(await kit.activePurchase(merchant), { permit: true, amount: 1n });
    expect(await refused({ signature })).toMatchObject({ status: 422, code: "signer_mismatch" });
  });

  test("when it was used and the token is paused, which is reported", async () => {
    const { buyer } = kit.sandbox.wallets;
    const signature = await signedOther({ nonce: 0n });
    await buyer.pay(await kit.activePurchase(merchant), { permit: true, amount: 1n });
    const { token } = kit.sandbox.description.contracts;
    const data = encodeFunctionData({ abi: testUsdcAbi, functionName: "pause" });
    await kit.wallet("deployer").send({ to: token, data });
    expect(await refused({ signature })).toMatchObject({
      status: 409,
      detail:
        "The payment would revert: The token refuses the permit: the token is paused. Let its pauser unpause it.",
    });
  });

  test.each([0, 1, 26, 29])("when its v is %i, as the token would refuse it", async (v) => {
    const good = await signed();
    const signature: Hex = `${slice(good, 0, 64)}${v.toString(16).padStart(2, "0")}`;
    const { client } = kit.sandbox.chain;
    await expect(client.call(permitAlone(paymentUnder(signature)))).rejects.toThrow(
      "ECRecover: invalid signature 'v' value",
    );
    expect(await refused({ signature })).toMatchObject({
      status: 422,
      code: "signature_invalid",
      detail: `The signature has v = ${v}. An account's signature needs v = 27 or 28, its last byte 0x1b or 0x1c.`,
      errors: [{ pointer: "/signature", code: "signature", detail: "must have v = 27 or 28" }],
    });
  });

  test("when it is of more than is outstanding", async () => {
    const signature = await signedOther({ value: 25_000_001n });
    expect(await refused({ signature, amount: "25000001" })).toMatchObject({
      status: 409,
      code: "state_conflict",
      detail: "The payment would revert: Only 25000000 base units are outstanding.",
    });
  });

  test("when the pay deadline has passed", async () => {
    const { pay_deadline } = purchase.deadlines;
    const signature = await signed();
    await kit.sandbox.clock.travelTo(pay_deadline - 1);
    await kit.renew();
    expect(await offered()).toMatchObject({ allowed: true });
    await kit.sandbox.clock.travelTo(pay_deadline);
    const deadline = new Date(pay_deadline * 1000).toISOString().replace(".000", "");
    expect(await refused({ signature })).toMatchObject({
      status: 409,
      code: "deadline_passed",
      detail: `The payment would revert: The deadline was ${deadline}.`,
    });
    expect(await offered()).toMatchObject({
      allowed: false,
      why_not: `The transaction would revert: The deadline was ${deadline}.`,
    });
  });

  test("when the purchase is not active", async () => {
    const created = await kit.createPurchase(merchant);
    const answer = await refused({ signature: await signedOther({}) }, created);
    expect(answer).toMatchObject({
      status: 409,
      code: "state_conflict",
      detail: "A purchase that is created does not allow reconcile; possible now: activate, registration.",
      current_state: "created",
    });
  });

  test("when the buyer is a contract, even one that accepts every signature (ERC-1271)", async () => {
    const sayYes = "0x631626ba7e60e01b60005260206000f3";
    const signature = await signed();
    await kit.sandbox.chain.client.setCode({ address: purchase.buyer, bytecode: sayYes });
    const actual = { address: purchase.buyer, reason: contractWalletReason };
    for (const one of [signature, "0x01"] as const)
      expect(await refused({ signature: one })).toMatchObject({
        status: 422,
        code: "binding_mismatch",
        detail: contractWalletReason,
        binding: {
          accepted: false,
          checks: [{ name: "wallet", ok: false, expected: purchase.buyer, actual }],
        },
      });
    const action = await offered();
    expect(action).toMatchObject({
      allowed: false,
      why_not: `POST …/reconcile would refuse it: ${contractWalletReason}`,
    });
    expect([action.sign, action.transaction]).toEqual([undefined, undefined]);
  });

  test("when the token is paused", async () => {
    const signature = await signed();
    const { token } = kit.sandbox.description.contracts;
    const data = encodeFunctionData({ abi: testUsdcAbi, functionName: "pause" });
    await kit.wallet("deployer").send({ to: token, data });
    expect(await refused({ signature })).toMatchObject({
      status: 409,
      code: "state_conflict",
      detail:
        "The payment would revert: The token refuses the permit: the token is paused. Let its pauser unpause it.",
    });
    expect(await offered()).toMatchObject({
      allowed: false,
      why_not: "The transaction would revert: The token is paused. Let its pauser unpause it.",
    });
  });

  test("when fields are missing or not its own", async () => {
    const digest = await kit.digest();
    const signature = await signed();
    for (const [body, pointer] of [
      [{ amount }, "/signature"],
      [{ signature, transaction_hash: `0x${"5c".repeat(32)}` }, "/transaction_hash"],
      [{ signature, reason: "late" }, "/reason"],
    ] as const) {
      const answer = await submit({ action: "pay_with_permit", ...body });
      expect(answer.status).toBe(422);
      expect(problem(answer)).toMatchObject({ code: "validation_failed", errors: [{ pointer }] });
    }
    expect(await kit.digest()).toBe(digest);
  });
});

describe("a permit that a stranger submits again", () => {
  test("gets the first answer under any key and in any letter case, even after the payment, and adds nothing", async () => {
    const signature = await signed();
    const body = { action: "pay_with_permit", signature, amount };
    const first = await submit(body, "first-key");
    expect(first.status, first.text).toBe(200);
    const { transaction } = present<Accepted>({ data: JSON.parse(first.text) });
    const digest = await kit.digest();
    const upper = `0x${signature.slice(2).toUpperCase()}`;
    const again = async () => [
      await submit(body, "first-key"),
      await submit(body),
      await submit({ ...body, signature: upper }),
      await submit({ action: "pay_with_permit", signature }),
    ];
    for (const { status, text } of await again()) expect([status, text]).toEqual([200, first.text]);
    if (transaction === undefined) throw new Error("A permit that is accepted has a transaction.");
    await kit.wallet("buyer").send(transaction);
    for (const { status, text } of await again()) expect([status, text]).toEqual([200, first.text]);
    expect(await kit.digest()).toBe(digest);
  });

  test("is recorded once when it is sent ten times at once, each time under its own key", async () => {
    const body = { action: "pay_with_permit", signature: await signed(), amount };
    const before = (await kit.sandbox.store.list("events", {})).length;
    const answers = await Promise.all(Array.from({ length: 10 }, async () => await submit(body)));
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect((await kit.sandbox.store.list("events", {})).length).toBe(before + 1);
  });
});

/** The detail for a permit whose nonce was used. */
function outdated(nonce: number, next: number): string {
  return `The permit is for nonce ${nonce}, which was used; the token expects nonce ${next}. Let the buyer sign the permit that the wallet route shows now.`;
}

/** The payment under a permit as the sandbox's own code builds it, without the service. */
function paymentUnder(signature: Hex): { data: Hex } {
  const permit = signedPermit(BigInt(purchase.deadlines.pay_deadline), signature);
  const { registrar } = kit.sandbox.description.contracts;
  return payWithPermitCall(registrar, purchase.commitment.hash, BigInt(amount), permit);
}

describe("a payment that reverted because the token refuses its permit says why and what to do:", () => {
  const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
  const signAgain =
    "Let the buyer sign the permit that the wallet route shows now, then send a new transaction.";

  /** Sends a payment under this permit, which reverts, and has `POST …/reconcile` judge it. */
  async function expectPermitRefused(
    permit: Parameters<typeof payWithPermitCall>[3],
    wrong: string,
    remedy = signAgain,
  ): Promise<void> {
    const call = payWithPermitCall(
      kit.sandbox.chain.deployment.registrar.address,
      id(),
      BigInt(amount),
      permit,
    );
    const {
      transaction_hash: transactionHash,
      receipt: { status },
    } = await kit.wallet("buyer").send({ to: call.to, data: call.data });
    expect(status).toBe("reverted");
    const answer = await kit.post(kit.path(`/purchases/${purchase.id}/reconcile`), {
      transaction_hashes: [transactionHash],
    });
    expect(answer.status, answer.text).toBe(422);
    expect(problem(answer)).toMatchObject({
      code: "transaction_reverted",
      detail: `The transaction of the payment reverted: the token refuses the permit: ${wrong}. ${remedy}`,
      revert: { name: "PermitRefused" },
    });
  }

  const id = (): Hex => `0x${purchase.commitment.hash.slice(2)}`;
  const inTime = () => BigInt(purchase.deadlines.pay_deadline);

  test("its deadline has passed", async () => {
    const permit = signedPermit(1n, await signedOther({ deadline: 1n }));
    await expectPermitRefused(permit, "its deadline has passed");
  });

  test("another account has signed it", async () => {
    const permit = signedPermit(inTime(), await signedOther({}, "stranger"));
    await expectPermitRefused(permit, "its signature is not the buyer's over these terms");
  });

  test("it is signed for other terms", async () => {
    const permit = signedPermit(inTime(), await signedOther({ value: 1n }));
    await expectPermitRefused(permit, "its signature is not the buyer's over these terms");
  });

  test("its s is high", async () => {
    const { v, r, s, deadline } = signedPermit(inTime(), await signedOther({}));
    await expectPermitRefused(
      { deadline, r, s: numberToHex(order - BigInt(s), { size: 32 }), v: v === 27 ? 28 : 27 },
      "its s is in the upper half of the curve's order",
      "Let the buyer sign with a low s, then send a new transaction.",
    );
  });

  test("its v is neither 27 nor 28", async () => {
    const { v, ...permit } = signedPermit(inTime(), await signedOther({}));
    await expectPermitRefused(
      { ...permit, v: v - 27 },
      "its v is neither 27 nor 28",
      "Send v as 27 or 28, then send a new transaction.",
    );
  });

  test("its nonce was used", async () => {
    const signature = await signed();
    await runAhead(await permitted(signature));
    const { token, registrar } = kit.sandbox.chain.deployment;
    await kit.wallet("buyer").send(approveCall(token.address, registrar.address, 0n));
    await expectPermitRefused(
      signedPermit(inTime(), signature),
      "it is for nonce 0, which was used, and the token expects nonce 1",
    );
  });
});
