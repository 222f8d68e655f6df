import type { Address, Hex } from "viem";
import { purchaseRegistrarAbi, testUsdcAbi } from "../../protocol/abi.generated.ts";
import type { ExpectedLog, ExpectedTransaction } from "../../protocol/binding/expected-transaction.ts";
import type { ObservedTransaction } from "../../protocol/binding/observed-transaction.ts";
import {
  approveCall,
  type Call,
  claimCall,
  collectRefundCall,
  decodeCall,
  enrollCall,
  offerCall,
  registerCall,
} from "../../protocol/call.ts";
import { toJson } from "../../protocol/values/json.ts";
import type { ChainPurchase } from "../chain/chain-reader.ts";
import type { Deployment, PinnedContract } from "../chain/deployment.ts";
import type { Settings } from "../http/services.ts";
import type { ClaimRecord, DecisionRecord, MerchantRecord, PurchaseRecord } from "../store/records.ts";
import { authorizationOf, commitmentOf } from "./commitment-of.ts";
import { claimableUntil, offerableUntil, payableUntil } from "./deadlines.ts";

/** The services that expectations are made from: those that the service is bound to. */
export interface BoundServices {
  deployment: Deployment;
  settings: Pick<Settings, "confirmations" | "blockLagSeconds">;
}

/** A step's expectation of a transaction; its earlier uses and the wallet's code are filled in when it is checked. */
export interface Expectation extends Omit<ExpectedTransaction, "usedBy" | "walletCode"> {
  /** The payment of a batch whose deadline ends first, in words, and the last of its deadlines; absent where only one is paid. */
  batch?: { first: string; lastDeadline: number };
}

/** An event of the registrar contract. */
function registrarLog(services: BoundServices, event: string, fields: ExpectedLog["fields"]): ExpectedLog {
  return { address: services.deployment.registrar.address, abi: purchaseRegistrarAbi, event, fields };
}

/** An event of the token. */
function tokenLog(services: BoundServices, event: string, fields: ExpectedLog["fields"]): ExpectedLog {
  return { address: services.deployment.token.address, abi: testUsdcAbi, event, fields };
}

function expectation(
  services: BoundServices,
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
  const { from, to } = step.timely;
  return {
    chain: { chainId: deployment.chainId, epoch: deployment.epoch },
    confirmations: settings.confirmations,
    wallet: step.wallet,
    codeHash: step.contract.codeHash,
    call: step.call,
    purchase: step.purchase,
    logs: step.logs,
    timely: { from: from === null ? null : from - settings.blockLagSeconds, to },
  };
}

/** The merchant's own `enroll`. */
export function expectEnrollment(
  merchant: MerchantRecord,
  enrolled: Hex | null,
  services: BoundServices,
): Expectation {
  const { deployment } = services;
  const authorization = authorizationOf(merchant, deployment);
  return expectation(services, {
    contract: deployment.registrar,
    wallet: merchant.wallet,
    call: enrollCall(deployment.registrar.address, authorization, merchant.funding.signature),
    purchase: { expected: merchant.funding.hash, actual: enrolled },
    logs: [
      registrarLog(services, "FundingEnrolled", {
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

/**
 * The merchant's approval to the funding source: of what all fundings of its wallet need, or of its own cap.
 *
 * @param observed - the approval.
 */
export function expectFundingApproval(
  merchant: MerchantRecord,
  { needed, observed }: { needed: bigint; observed: Pick<ObservedTransaction, "envelope"> },
  services: BoundServices,
): Expectation {
  const { deployment } = services;
  const spender = deployment.fundingSource.address;
  const approved = decodeCall(testUsdcAbi, observed.envelope?.input ?? "0x")?.args["value"];
  const value = approved === merchant.funding.cap ? BigInt(merchant.funding.cap) : needed;
  return expectation(services, {
    contract: deployment.token,
    wallet: merchant.wallet,
    call: approveCall(deployment.token.address, spender, value),
    purchase: { expected: merchant.funding.hash, actual: merchant.funding.hash },
    logs: [tokenLog(services, "Approval", { owner: merchant.wallet, spender, value: value.toString() })],
    timely: { from: merchant.created_at, to: null },
  });
}

/** The relayer's `offer`. */
export function expectOffer(
  purchase: PurchaseRecord,
  operator: Address,
  onChain: boolean,
  services: BoundServices,
): Expectation {
  return expectCommitment(
    purchase,
    { wallet: operator, callOf: offerCall, event: "PurchaseOffered", onChain },
    services,
  );
}

/** The merchant's own `register`. */
export function expectRegistration(
  purchase: PurchaseRecord,
  onChain: boolean,
  services: BoundServices,
): Expectation {
  return expectCommitment(
    purchase,
    { wallet: purchase.merchant, callOf: registerCall, event: "PurchaseRegistered", onChain },
    services,
  );
}

/** Returns the expectation of the transaction that brings a purchase onto the chain, by either route. */
function expectCommitment(
  purchase: PurchaseRecord,
  route: { wallet: Address; callOf: typeof offerCall; event: string; onChain: boolean },
  services: BoundServices,
): Expectation {
  const { deployment } = services;
  const { wallet, callOf, event, onChain } = route;
  const commitment = commitmentOf(purchase, deployment);
  return expectation(services, {
    contract: deployment.registrar,
    wallet,
    call: callOf(deployment.registrar.address, commitment, purchase.commitment_signature),
    purchase: { expected: purchase.commitment_hash, actual: onChain ? purchase.commitment_hash : null },
    logs: [
      registrarLog(services, event, {
        id: purchase.commitment_hash,
        program: commitment.program,
        buyer: commitment.buyer,
        purchase: toJson(commitment),
      }),
    ],
    timely: { from: purchase.created_at, to: offerableUntil(purchase) },
  });
}

/** The buyer's approval of an amount to the registrar contract. */
export function expectPaymentApproval(
  purchase: PurchaseRecord,
  amount: bigint,
  services: BoundServices,
): Expectation {
  const { deployment } = services;
  const spender = deployment.registrar.address;
  return expectation(services, {
    contract: deployment.token,
    wallet: purchase.buyer,
    call: approveCall(deployment.token.address, spender, amount),
    purchase: { expected: purchase.commitment_hash, actual: purchase.commitment_hash },
    logs: [tokenLog(services, "Approval", { owner: purchase.buyer, spender, value: amount.toString() })],
    timely: { from: purchase.created_at, to: payableUntil(purchase) },
  });
}

/** One payment inside a transaction: which purchase, and how much of it. */
export interface ExpectedPayment {
  /** The purchase's id on chain. */
  id: Hex;
  amount: bigint;
  /** The purchase behind the id; null when it is none of the asking buyer's in this program, or not on chain. */
  purchase: PurchaseRecord | null;
}

/**
 * The buyer's `pay`, `payWithPermit` or `payBatch`: every purchase that it pays must be on chain, of one program and of this buyer.
 *
 * @param mayPermit - whether the approval of a permit may be among the logs.
 */
export function expectPayments(
  call: Call,
  payments: readonly ExpectedPayment[],
  asked: PurchaseRecord,
  services: BoundServices,
  mayPermit: boolean,
): Expectation {
  const { deployment } = services;
  const { buyer } = asked;
  const spender = deployment.registrar.address;
  const known = payments.map(({ purchase }) => purchase).filter((purchase) => purchase !== null);
  const to = Math.min(...[...known, asked].map(payableUntil));
  const place = payments.findIndex(({ purchase }) => purchase !== null && payableUntil(purchase) === to);
  const earliest = payments.length > 1 ? payments[place]?.purchase : null;
  const expected = expectation(services, {
    contract: deployment.registrar,
    wallet: buyer,
    call,
    purchase: {
      expected: payments.map(({ id }) => id),
      actual: payments.map(({ id, purchase }) => (purchase === null ? null : id)),
    },
    logs: payments.flatMap(({ id, amount, purchase }) => {
      const merchant = purchase?.merchant ?? null;
      const value = amount.toString();
      return [
        registrarLog(services, "PurchasePaid", { id, buyer, merchant, amount: value }),
        // A permit that was submitted before is not approved again.
        ...(mayPermit
          ? [{ ...tokenLog(services, "Approval", { owner: buyer, spender, value }), optional: true as const }]
          : []),
        tokenLog(services, "Transfer", { from: buyer, to: merchant, value }),
      ];
    }),
    timely: {
      from: Math.max(...known.map(({ created_at }) => created_at), asked.created_at),
      to,
    },
  });
  if (!earliest) return expected;
  const lastDeadline = Math.max(...known.map(payableUntil));
  return {
    ...expected,
    batch: { first: `payment ${place + 1} of the batch, of ${earliest.id}`, lastDeadline },
  };
}

/** The beneficiary's `claim`. */
export function expectClaim(
  purchase: PurchaseRecord,
  claimHash: Hex,
  onChain: boolean,
  services: BoundServices,
): Expectation {
  const { deployment } = services;
  return expectation(services, {
    contract: deployment.registrar,
    wallet: purchase.beneficiary,
    call: claimCall(deployment.registrar.address, purchase.commitment_hash, claimHash),
    purchase: { expected: purchase.commitment_hash, actual: onChain ? purchase.commitment_hash : null },
    logs: [
      registrarLog(services, "PurchaseClaimed", {
        id: purchase.commitment_hash,
        beneficiary: purchase.beneficiary,
        claimHash,
      }),
    ],
    timely: { from: purchase.created_at, to: claimableUntil(purchase) },
  });
}

/** The relayer's `collectRefund`, as the chain holds it afterwards: for the decided claim alone. */
export function expectRefund(
  step: { purchase: PurchaseRecord; claim: ClaimRecord; decision: DecisionRecord; operator: Address },
  onChain: Pick<ChainPurchase, "decisionHash">,
  services: BoundServices,
): Expectation {
  const { deployment } = services;
  const { purchase, claim, decision, operator } = step;
  const { award } = decision.statement;
  const { address } = deployment.registrar;
  const id = purchase.commitment_hash;
  return expectation(services, {
    contract: deployment.registrar,
    wallet: operator,
    call: collectRefundCall(address, id, BigInt(award), decision.decision_hash),
    purchase: {
      expected: { decision_hash: decision.decision_hash },
      actual: { decision_hash: onChain.decisionHash },
    },
    logs: [
      registrarLog(services, "RefundCollected", {
        id,
        beneficiary: purchase.beneficiary,
        decisionHash: decision.decision_hash,
        claimHash: claim.claim_hash,
        award,
      }),
      tokenLog(services, "Transfer", { from: purchase.merchant, to: purchase.beneficiary, value: award }),
    ],
    timely: { from: decision.created_at, to: null },
  });
}
