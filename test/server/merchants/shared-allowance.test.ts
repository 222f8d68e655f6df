import { type Hex, keccak256, toHex } from "viem";
import { expect, test } from "vitest";
import {
  approveCall,
  claimCall,
  collectRefundCall,
  enrollCall,
  openProgramCall,
  payCall,
  registerCall,
} from "../../../protocol/call.ts";
import { commitmentTypedData, hashCommitment } from "../../../protocol/messages/commitment.ts";
import { fundingAuthorizationTypedData } from "../../../protocol/messages/funding-authorization.ts";
import { domainOf } from "../../../server/binding/commitment-of.ts";
import { accountOf } from "../../kit/account-of.ts";
import { present, type Schema } from "../../kit/answer.ts";
import { resetBeforeEach } from "../../kit/reset-before-each.ts";
import { TestKit } from "../../kit/test-kit.ts";

/** The cap of the merchant's funding in each of both programs. */
const cap = 25_000_000n;
const program = keccak256(toHex("prg_second"));
const merchantRef = keccak256(toHex("mer_second"));
const word = keccak256(toHex("any"));

let kit: TestKit;

resetBeforeEach(async () => {
  kit = await TestKit.shared();
  return kit;
});

function parties() {
  const { wallets } = kit.sandbox.description;
  const addressOf = (name: string): Hex => accountOf(wallets[name]?.private_key ?? "0x").address;
  const { deployment } = kit.sandbox.chain;
  const signer = accountOf(wallets["stranger"]?.private_key ?? "0x");
  return {
    deployment,
    registrar: deployment.registrar.address,
    domain: domainOf(deployment),
    signer,
    addressOf,
  };
}

/** Opens a program that the service does not know, and enrolls the wallet of the merchant in it. */
async function joinSecondProgram(validUntil: number): Promise<void> {
  const { deployment, registrar, domain, signer, addressOf } = parties();
  const bounds = { maxPurchase: 0n, openBudget: 0n, validUntil: 0 };
  const terms = { operator: signer.address, commitmentSigner: signer.address, bounds };
  await kit.wallet("stranger").send(openProgramCall(registrar, program, terms));
  const authorization = {
    program,
    merchantRef,
    wallet: addressOf("merchant"),
    token: deployment.token.address,
    cap,
    validUntil: BigInt(validUntil),
    salt: word,
  };
  const signature = await signer.signTypedData(fundingAuthorizationTypedData(domain, authorization));
  await kit.wallet("merchant").send(enrollCall(registrar, authorization, signature));
}

/** Lets the parties of the second program use up the cap there, with a purchase that is paid, claimed and refunded. */
async function useUpSecondCap(end: number): Promise<void> {
  const { deployment, registrar, domain, signer, addressOf } = parties();
  const buyer = addressOf("buyer");
  const deadline = BigInt(end);
  const purchase = {
    program,
    purchaseRef: word,
    merchant: addressOf("merchant"),
    buyer,
    beneficiary: buyer,
    token: deployment.token.address,
    amount: cap,
    termsHash: word,
    offerDeadline: deadline,
    payDeadline: deadline,
    claimDeadline: deadline,
    salt: word,
  };
  const id = hashCommitment(domain, purchase);
  const signature = await signer.signTypedData(commitmentTypedData(domain, purchase));
  await kit.wallet("merchant").send(registerCall(registrar, purchase, signature));
  await kit.wallet("buyer").send(approveCall(deployment.token.address, registrar, cap));
  await kit.wallet("buyer").send(payCall(registrar, id, cap));
  await kit.wallet("buyer").send(claimCall(registrar, id, word));
  await kit.wallet("stranger").send(collectRefundCall(registrar, id, cap, word));
}

async function fundingOf(id: string) {
  const answer = await kit.raw(`/wallet/${kit.program}/merchant/${id}`);
  const { subject, actions } = present<Schema<"Wallet">>({ data: JSON.parse(answer.text) });
  if (subject.type !== "merchant") throw new Error("The subject is not a merchant.");
  const { funding_needed, funding_allowance, funding_shortfall } = subject;
  const fund = actions.find(({ name }) => name === "fund");
  return {
    funding_needed,
    funding_allowance,
    funding_shortfall,
    allowed: fund?.allowed,
    why_not: fund?.why_not,
  };
}

test("an approval for a program also covers what the other active fundings of the wallet need", async () => {
  const merchant = await kit.fundedMerchant(cap.toString());
  const { valid_until } = merchant.funding;
  expect(await fundingOf(merchant.id)).toEqual({
    funding_needed: "25000000",
    funding_allowance: "25000000",
    funding_shortfall: "0",
    allowed: false,
    why_not: "The funding source may draw all that remains under the cap already.",
  });
  const refund = await kit.approvedPurchase(merchant);
  await joinSecondProgram(valid_until);
  expect(await fundingOf(merchant.id)).toEqual({
    funding_needed: "50000000",
    funding_allowance: "25000000",
    funding_shortfall: "25000000",
    allowed: true,
    why_not: null,
  });
  const transaction_hash = await kit.act("merchant", "merchant", merchant.id, "fund");
  const submitted = await kit.post(`/wallet/${kit.program}/merchant/${merchant.id}`, {
    action: "fund",
    transaction_hash,
  });
  expect(submitted.status, submitted.text).toBe(200);
  expect((await fundingOf(merchant.id)).why_not).toBe(
    "The funding source may draw 50000000 base units already, all that remains under the caps of the wallet's fundings.",
  );

  await useUpSecondCap(valid_until);
  expect(await fundingOf(merchant.id)).toMatchObject({ funding_needed: "25000000", funding_shortfall: "0" });
  const answer = await kit.requestRefund(refund);
  expect(answer.status, answer.text).toBe(201);
});
