import { concat, encodeFunctionData } from "viem";
import { describe, expect, test } from "vitest";
import { testUsdcAbi } from "../../protocol/abi.generated.ts";
import { collectRefundCall, offerCall } from "../../protocol/call.ts";
import { toTimestamp } from "../../protocol/values/time.ts";
import { readCommitment } from "../../sandbox/wallets/read-commitment.ts";
import type { ProgramDeployment } from "../../server/chain/deployment.ts";
import { day } from "../../server/limits.ts";
import { type Answer, present, problem, type Schema } from "../kit/answer.ts";
import { resetBeforeEach } from "../kit/reset-before-each.ts";
import { TestKit } from "../kit/test-kit.ts";

const title = "The contract refused the call";
const again = "then send the identical request again.";

let kit: TestKit;

resetBeforeEach(async () => {
  kit = await TestKit.shared({ receiptTimeoutMs: 30_000 });
  return kit;
});

/** The program as it was opened on chain. */
function opened(): ProgramDeployment {
  const found = kit.sandbox.chain.deployment.programs.find(({ id }) => id === kit.program);
  if (found === undefined) throw new Error("The program is deployed.");
  return found;
}

async function setProgram(change: Partial<ProgramDeployment> = {}): Promise<void> {
  await kit.sandbox.wallets.deployer.setBounds(kit.program, { ...opened(), ...change });
}

/** Has the merchant's wallet revoke its enrollment and enroll again. */
async function enrollAnew(
  former: Schema<"Merchant">,
  terms: { cap: string; days: number },
): Promise<Schema<"Merchant">> {
  await kit.sandbox.wallets.merchant.revokeFunding(former);
  const newer = present(
    await kit.api.POST("/v1/routing/programs/{program}/merchants", {
      params: kit.write(),
      body: {
        wallet: former.wallet,
        name: "Corner Books",
        funding_cap: terms.cap,
        funding_valid_until: (await kit.sandbox.clock.now()) + terms.days * day,
      },
    }),
  );
  await kit.sandbox.wallets.merchant.enroll(newer);
  return newer;
}

function expectRefused(
  answer: Answer,
  expected: { detail: string; retryable: boolean; revert: string },
): void {
  const { detail, retryable, revert } = expected;
  expect(answer.status, answer.text).toBe(422);
  expect(problem(answer)).toMatchObject({
    code: "transaction_reverted",
    title,
    detail,
    retryable,
    revert: { name: revert },
    operation: { status: "failed" },
  });
}

async function expectDone(answer: Promise<Answer>): Promise<void> {
  const { status, text } = await answer;
  expect([200, 201], text).toContain(status);
}

/** Makes another account the program's operator, expects the refusal of a request, and that it is done once that is undone. */
async function expectRefusedToOthers(
  what: "offer" | "collection",
  ask: () => Promise<Answer>,
): Promise<void> {
  const operator = kit.wallet("stranger").address;
  await setProgram({ operator });
  expectRefused(await ask(), {
    detail: `The ${what} was not sent: the program's operator on chain is ${operator}, and the relayer is ${opened().operator}. Let the program's admin set the relayer as operator again, ${again}`,
    retryable: true,
    revert: "WrongCaller",
  });
  await setProgram();
  await expectDone(ask());
}

describe("an offer that the contract would refuse says what that means and what to do, and is made after it:", () => {
  test("the relayer is no longer the program's operator", async () => {
    const purchase = await kit.createPurchase(await kit.enrolledMerchant());
    await expectRefusedToOthers("offer", () => kit.requestActivation(purchase));
  });

  test("the program has another commitment signer now", async () => {
    const purchase = await kit.createPurchase(await kit.enrolledMerchant());
    const commitmentSigner = kit.wallet("stranger").address;
    await setProgram({ commitmentSigner });
    expectRefused(await kit.requestActivation(purchase), {
      detail: `The offer was not sent: the program's commitment signer on chain is ${commitmentSigner}, which has not signed this purchase. Let the program's admin set the purchase's commitment.signer again, ${again}`,
      retryable: true,
      revert: "InvalidSignature",
    });
    expect(await kit.action("purchase", purchase.id, "register")).toMatchObject({
      allowed: false,
      why_not: `The transaction would revert: The program's commitment signer on chain is ${commitmentSigner}, which has not signed this purchase. Let the program's admin set the purchase's commitment.signer again.`,
    });
    await setProgram();
    await expectDone(kit.requestActivation(purchase));
  });

  test("the program's commitment signer delegates to code that refuses its signatures", async () => {
    const purchase = await kit.createPurchase(await kit.enrolledMerchant());
    const { commitmentSigner: address } = opened();
    const { client } = kit.sandbox.chain;
    const contract = `0x${"c0de".repeat(10)}` as const;
    await client.setCode({ address: contract, bytecode: "0x5f5ffd" });
    await client.setCode({ address, bytecode: concat(["0xef0100", contract]) });
    const wrong = `the program's commitment signer on chain, ${address}, has code, which refuses the signature of this purchase (isValidSignature, ERC-1271)`;
    const remedy =
      "Let the signer's code accept it, or let the signer end its delegation to that code (EIP-7702)";
    expectRefused(await kit.requestActivation(purchase), {
      detail: `The offer was not sent: ${wrong}. ${remedy}, ${again}`,
      retryable: true,
      revert: "InvalidSignature",
    });
    expect((await kit.action("purchase", purchase.id, "register")).why_not).toBe(
      `The transaction would revert: T${wrong.slice(1)}. ${remedy}.`,
    );
    await client.setCode({ address, bytecode: "0x" });
    await expectDone(kit.requestActivation(purchase));
  });

  test("refunds have used up the merchant's cap since the purchase was created", async () => {
    const merchant = await kit.fundedMerchant("30000000");
    const approved = await kit.approvedPurchase(merchant);
    const purchase = await kit.createPurchase(merchant);
    await expectDone(kit.requestRefund(approved));
    expectRefused(await kit.requestActivation(purchase), {
      detail: `The offer was not sent: the purchase is of 25000000, and the merchant's funding cap has 20000000 left. Let the wallet revoke its enrollment and enroll under a new merchant with a higher cap, ${again}`,
      retryable: true,
      revert: "FundingInsufficient",
    });
    await enrollAnew(merchant, { cap: "25000000", days: 60 });
    await expectDone(kit.requestActivation(purchase));
  });

  test("the wallet's newer enrollment ends before the purchase can be claimed", async () => {
    const merchant = await kit.enrolledMerchant();
    const purchase = await kit.createPurchase(merchant);
    const short = await enrollAnew(merchant, { cap: "25000000", days: 20 });
    const ends = toTimestamp(short.funding.valid_until);
    const claimable = toTimestamp(purchase.deadlines.claim_deadline);
    expectRefused(await kit.requestActivation(purchase), {
      detail: `The offer was not sent: the merchant's funding authorization is valid until ${ends}, and the purchase can be claimed until ${claimable}. Let the wallet revoke its enrollment and enroll under a new merchant with a longer validity, ${again}`,
      retryable: true,
      revert: "FundingTooShort",
    });
    expect(await kit.action("purchase", purchase.id, "register")).toMatchObject({
      allowed: false,
      why_not: `The transaction would revert: The merchant's funding authorization is valid until ${ends}, and the purchase can be claimed until ${claimable}. Let the wallet revoke its enrollment and enroll under a new merchant with a longer validity.`,
    });
    await enrollAnew(short, { cap: "25000000", days: 60 });
    await expectDone(kit.requestActivation(purchase));
  });
});

test("an offer that other software has made is refused because of that, at each of its doors", async () => {
  const purchase = await kit.createPurchase(await kit.enrolledMerchant());
  const { deployer } = kit.sandbox.wallets;
  await setProgram({ operator: deployer.address });
  const { address } = kit.sandbox.chain.deployment.registrar;
  const call = offerCall(address, readCommitment(purchase), purchase.commitment.signature);
  expect((await deployer.sendCall(call)).receipt.status).toBe("success");
  await setProgram();
  const never =
    "Other software has offered this purchase with the key of the program's operator, and only an offer of the relayer activates it. Create a new purchase.";
  for (const name of ["approve", "pay", "pay_with_permit"] as const)
    expect(await kit.action("purchase", purchase.id, name)).toMatchObject({
      allowed: false,
      why_not: expect.stringContaining(never),
    });
  const reconciled = await kit.post(kit.path(`/purchases/${purchase.id}/reconcile`), {});
  expect(problem(reconciled)).toMatchObject({
    code: "state_conflict",
    detail: `A purchase that is created does not allow reconcile. ${never}`,
    allowed: [],
  });
  const { receipt: payment } = await kit.sandbox.wallets.buyer.pay(purchase, { permit: true });
  expect(await kit.sandbox.explain(payment.transactionHash)).toMatchObject({ accepted: false, cause: never });
  await kit.sandbox.clock.travelTo(purchase.deadlines.offer_deadline + 1);
  expectRefused(await kit.requestActivation(purchase), {
    detail: "The offer was not sent: other software has offered the purchase already. Create a new purchase.",
    retryable: false,
    revert: "DeadlinePassed",
  });
  const registration = await kit.post(kit.path(`/purchases/${purchase.id}/registration`), {});
  expect(problem(registration)).toMatchObject({
    code: "state_conflict",
    detail: never,
    allowed: [],
  });
});

describe("a collection that the contract would refuse says what that means and what to do:", () => {
  test("the relayer is no longer the program's operator", async () => {
    const approved = await kit.approvedPurchase(await kit.fundedMerchant());
    await expectRefusedToOthers("collection", () => kit.requestRefund(approved));
  });

  test("a reorg has removed the claim", async () => {
    const approved = await kit.approvedPurchase(await kit.fundedMerchant());
    const { client } = kit.sandbox.chain;
    const claim = await client.getTransaction({ hash: `0x${approved.claim.transaction_hash.slice(2)}` });
    await kit.reorg(1);
    expectRefused(await kit.requestRefund(approved), {
      detail: `The collection was not sent: the chain has no claim of this purchase any more. Let the beneficiary send its claim again, ${again}`,
      retryable: true,
      revert: "NotClaimed",
    });
    if (claim.to === null) throw new Error("A claim is sent to the registrar contract.");
    await kit.wallet("beneficiary").send({ to: claim.to, data: claim.input });
    await expectDone(kit.requestRefund(approved));
  });

  test("the operator has collected the refund without the service, after which no repeat helps", async () => {
    const approved = await kit.approvedPurchase(await kit.fundedMerchant());
    const { deployment, accounts } = kit.sandbox.chain;
    const key = accounts.programs[kit.program]?.operator.privateKey;
    if (key === undefined) throw new Error("The program has an operator.");
    const { award, decision_hash: decided } = approved.decision;
    const hash = `0x${decided.slice(2)}` as const;
    const id = `0x${approved.purchase.commitment.hash.slice(2)}` as const;
    const call = collectRefundCall(deployment.registrar.address, id, BigInt(award), hash);
    const { receipt } = await kit.sandbox.openWallet(key).sendCall(call);
    expect(receipt.status).toBe("success");
    // Now the merchant's balance does not cover the award either.
    const merchant = kit.wallet("merchant");
    const { token } = kit.sandbox.chain.deployment;
    const balance = await kit.sandbox.chain.client.readContract({
      address: token.address,
      abi: testUsdcAbi,
      functionName: "balanceOf",
      args: [merchant.address],
    });
    const data = encodeFunctionData({
      abi: testUsdcAbi,
      functionName: "transfer",
      args: [kit.wallet("stranger").address, balance],
    });
    await merchant.send({ to: token.address, data });
    expectRefused(await kit.requestRefund(approved), {
      detail: `The collection was not sent: other software has collected a refund under the decision hash ${hash}. The figures of the purchase have it, and its status stays: only a refund of the relayer changes it.`,
      retryable: false,
      revert: "AlreadyRefunded",
    });
    const explanation = await kit.sandbox.explain(receipt.transactionHash);
    expect(explanation).toMatchObject({
      step: "refund",
      accepted: false,
      cause:
        "Other software has collected this refund with the key of the program's operator, and only a refund of the relayer changes the purchase.",
    });
  });

  test("the token is paused", async () => {
    const approved = await kit.approvedPurchase(await kit.fundedMerchant());
    const { token } = kit.sandbox.chain.deployment;
    const pause = async (name: "pause" | "unpause") => {
      const data = encodeFunctionData({ abi: testUsdcAbi, functionName: name });
      expect((await kit.wallet("deployer").send({ to: token.address, data })).receipt.status).toBe("success");
    };
    await pause("pause");
    expectRefused(await kit.requestRefund(approved), {
      detail: `The collection was not sent: the token is paused. Let its pauser unpause it, ${again}`,
      retryable: true,
      revert: "Error",
    });
    await pause("unpause");
    await expectDone(kit.requestRefund(approved));
  });

  test.each(["the funding source", "the beneficiary"])("the token blocks %s", async (who) => {
    const approved = await kit.approvedPurchase(await kit.fundedMerchant());
    const { token, fundingSource } = kit.sandbox.chain.deployment;
    const { address } = who === "the beneficiary" ? kit.wallet("beneficiary") : fundingSource;
    const args = [address] as const;
    const data = encodeFunctionData({ abi: testUsdcAbi, functionName: "blacklist", args });
    expect((await kit.wallet("deployer").send({ to: token.address, data })).receipt.status).toBe("success");
    expectRefused(await kit.requestRefund(approved), {
      detail: `The collection was not sent: the token blocks the funding source, the merchant's wallet or the beneficiary. Let its blocklister unblock it, ${again}`,
      retryable: true,
      revert: "Error",
    });
  });
});
