import type { Address, Hex } from "viem";
import { purchaseRegistrarAbi, testUsdcAbi } from "../../protocol/abi.generated.ts";
import type { ExpectedLog, ExpectedTransaction } from "../../protocol/binding/expected-transaction.ts";
import {
  approveCall,
  type Call,
  claimCall,
  collectRefundCall,
  enrollCall,
  offerCall,
  registerCall,
} from "../../protocol/call.ts";
import { hashId } from "../../protocol/id.ts";
import { toJson } from "../../protocol/json.ts";
import type { PinnedContract } from "../deployment.ts";
import { authorizationOf, commitmentOf } from "../domain/commitment-of.ts";
import type { Services } from "../services.ts";
import type { ClaimRecord, DecisionRecord, MerchantRecord, PurchaseRecord } from "../store/records.ts";

/** What a step expects of a transaction; what is already used and what the chain holds is filled in when it is checked. */
export type Expectation = Omit<ExpectedTransaction, "usedBy">;

/** An event of the registrar contract. */
function registrarLog(event: string, fields: ExpectedLog["fields"]): ExpectedLog {
  return { abi: purchaseRegistrarAbi, event, fields };
}

function expectation(
  services: Services,
  step: {
    contract: PinnedContract;
    wallet: Address;
    call: Call;
    purchase: ExpectedTransaction["purchase"];
    logs: readonly ExpectedLog[];
    timely: ExpectedTransaction["timely"];
  },
): Expectation {
  const { deployment, settings } = services;
  return {
    chain: { chainId: deployment.chainId, epoch: deployment.epoch },
    confirmations: settings.confirmations,
    wallet: step.wallet,
    codeHash: step.contract.codeHash,
    call: step.call,
    purchase: step.purchase,
    logs: step.logs,
    timely: step.timely,
  };
}

/** The merchant's own `enroll`. */
export function expectEnrollment(
  merchant: MerchantRecord,
  enrolled: Hex | null,
  services: Services,
): Expectation {
  const { deployment } = services;
  const authorization = authorizationOf(merchant, deployment);
  return expectation(services, {
    contract: deployment.registrar,
    wallet: merchant.wallet,
    call: enrollCall(deployment.registrar.address, authorization, merchant.funding.signature),
    purchase: { expected: merchant.funding.hash, actual: enrolled },
    logs: [
      registrarLog("FundingEnrolled", {
        program: authorization.program,
        merchantRef: authorization.merchantRef,
        wallet: authorization.wallet,
        token: authorization.token,
        cap: merchant.funding.cap,
        validUntil: String(merchant.funding.valid_until),
        authorization: merchant.funding.hash,
      }),
    ],
    timely: { from: merchant.created_at, to: merchant.funding.valid_until },
  });
}

/** The merchant's approval of its funding cap to the funding source. */
export function expectFundingApproval(merchant: MerchantRecord, services: Services): Expectation {
  const { deployment } = services;
  const spender = deployment.fundingSource.address;
  return expectation(services, {
    contract: deployment.token,
    wallet: merchant.wallet,
    call: approveCall(deployment.token.address, spender, BigInt(merchant.funding.cap)),
    purchase: { expected: merchant.funding.hash, actual: merchant.funding.hash },
    logs: [approvalLog(merchant.wallet, spender, merchant.funding.cap)],
    timely: { from: merchant.created_at, to: null },
  });
}

/** The relayer's `offer`. */
export function expectOffer(
  purchase: PurchaseRecord,
  registrar: Address,
  onChain: boolean,
  services: Services,
): Expectation {
  const { deployment } = services;
  const commitment = commitmentOf(purchase, deployment);
  return expectation(services, {
    contract: deployment.registrar,
    wallet: registrar,
    call: offerCall(deployment.registrar.address, commitment, purchase.commitment_signature),
    purchase: { expected: purchase.commitment_hash, actual: onChain ? purchase.commitment_hash : null },
    logs: [
      registrarLog("PurchaseOffered", {
        id: purchase.commitment_hash,
        program: commitment.program,
        registrar,
        merchantRef: hashId(purchase.merchant_id),
        purchase: toJson(commitment),
      }),
    ],
    timely: { from: purchase.created_at, to: purchase.offer_deadline },
  });
}

/** The merchant's own `register`. */
export function expectRegistration(
  purchase: PurchaseRecord,
  onChain: boolean,
  services: Services,
): Expectation {
  const { deployment } = services;
  const commitment = commitmentOf(purchase, deployment);
  return expectation(services, {
    contract: deployment.registrar,
    wallet: purchase.merchant,
    call: registerCall(deployment.registrar.address, commitment, purchase.commitment_signature),
    purchase: { expected: purchase.commitment_hash, actual: onChain ? purchase.commitment_hash : null },
    logs: [
      registrarLog("PurchaseRegistered", {
        id: purchase.commitment_hash,
        program: commitment.program,
        merchant: purchase.merchant,
        merchantRef: hashId(purchase.merchant_id),
        purchase: toJson(commitment),
      }),
    ],
    timely: { from: purchase.created_at, to: purchase.offer_deadline },
  });
}

/** The buyer's approval of an amount to the registrar contract. */
export function expectPaymentApproval(
  purchase: PurchaseRecord,
  amount: bigint,
  services: Services,
): Expectation {
  const { deployment } = services;
  const spender = deployment.registrar.address;
  return expectation(services, {
    contract: deployment.token,
    wallet: purchase.buyer,
    call: approveCall(deployment.token.address, spender, amount),
    purchase: { expected: purchase.commitment_hash, actual: purchase.commitment_hash },
    logs: [approvalLog(purchase.buyer, spender, amount.toString())],
    timely: { from: purchase.created_at, to: purchase.pay_deadline },
  });
}

/** One payment inside a transaction: which purchase, and how much of it. */
export interface ExpectedPayment {
  purchase: PurchaseRecord;
  amount: bigint;
}

/** The buyer's `pay` or `payBatch`; every purchase that it pays must be on chain. */
export function expectPayments(
  call: Call,
  payments: readonly ExpectedPayment[],
  asked: PurchaseRecord,
  onChain: boolean,
  services: Services,
): Expectation {
  const { deployment } = services;
  return expectation(services, {
    contract: deployment.registrar,
    wallet: asked.buyer,
    call,
    purchase: { expected: asked.commitment_hash, actual: onChain ? asked.commitment_hash : null },
    logs: payments.map(({ purchase, amount }) =>
      registrarLog("PurchasePaid", {
        id: purchase.commitment_hash,
        buyer: asked.buyer,
        merchant: purchase.merchant,
        token: deployment.token.address,
        amount: amount.toString(),
      }),
    ),
    timely: {
      from: Math.max(...payments.map(({ purchase }) => purchase.created_at)),
      to: Math.min(...payments.map(({ purchase }) => purchase.pay_deadline)),
    },
  });
}

/** The beneficiary's `claim`. */
export function expectClaim(
  purchase: PurchaseRecord,
  claimHash: Hex,
  onChain: boolean,
  services: Services,
): Expectation {
  const { deployment } = services;
  return expectation(services, {
    contract: deployment.registrar,
    wallet: purchase.beneficiary,
    call: claimCall(deployment.registrar.address, purchase.commitment_hash, claimHash),
    purchase: { expected: purchase.commitment_hash, actual: onChain ? purchase.commitment_hash : null },
    logs: [
      registrarLog("PurchaseClaimed", {
        id: purchase.commitment_hash,
        beneficiary: purchase.beneficiary,
        claimHash,
      }),
    ],
    timely: { from: purchase.created_at, to: purchase.claim_deadline },
  });
}

/** The relayer's `collectRefund`. */
export function expectRefund(
  purchase: PurchaseRecord,
  claim: ClaimRecord,
  decision: DecisionRecord,
  registrar: Address,
  services: Services,
): Expectation {
  const { deployment } = services;
  const { award } = decision.statement;
  return expectation(services, {
    contract: deployment.registrar,
    wallet: registrar,
    call: collectRefundCall(
      deployment.registrar.address,
      purchase.commitment_hash,
      BigInt(award),
      decision.decision_hash,
    ),
    purchase: { expected: claim.claim_hash, actual: decision.statement.claim_hash },
    logs: [
      registrarLog("RefundCollected", {
        id: purchase.commitment_hash,
        beneficiary: purchase.beneficiary,
        decisionHash: decision.decision_hash,
        merchantRef: hashId(purchase.merchant_id),
        award,
      }),
    ],
    timely: { from: decision.created_at, to: null },
  });
}

function approvalLog(owner: Address, spender: Address, value: string): ExpectedLog {
  return { abi: testUsdcAbi, event: "Approval", fields: { owner, spender, value } };
}
