import { type Address, hashMessage } from "viem";
import { approveCall, type Call, claimCall, enrollCall, payCall, registerCall } from "../../protocol/call.ts";
import { claimTypedData, hashClaim, hashReason } from "../../protocol/claim.ts";
import type { Json } from "../../protocol/json.ts";
import type { ChainFunding, ChainPurchase } from "../chain/chain.ts";
import type { WalletAction } from "../schemas/wallet.ts";
import type { Services } from "../services.ts";
import type { MerchantRecord, PurchaseRecord } from "../store/records.ts";
import { enrollmentMessageOf } from "../views/merchant.ts";
import { viewTransactionRequest } from "../views/transaction-request.ts";
import { viewTypedData } from "../views/typed-data.ts";
import { authorizationOf, commitmentOf, domainOf } from "./commitment-of.ts";

/** One action of a wallet: what to sign or send, or why not now. */
export interface OfferedAction {
  name: WalletAction;
  allowed: boolean;
  why_not: string | null;
  transaction?: Json;
  sign?: Json;
}

/** What a merchant's wallet can do now. */
export function merchantWalletActions(
  merchant: MerchantRecord,
  funding: ChainFunding,
  services: Services,
): OfferedAction[] {
  const { deployment } = services;
  const { registrar, token, fundingSource } = deployment;
  const send = (call: Call) => viewTransactionRequest(call, merchant.wallet, deployment);
  const authorization = authorizationOf(merchant, deployment);
  const cap = BigInt(merchant.funding.cap);
  const message = enrollmentMessageOf(merchant, services);
  const missing = cap - funding.collected - funding.allowance;
  return [
    offered("enroll", merchant.status === "pending" ? null : "The merchant is enrolled already.", {
      transaction: send(enrollCall(registrar.address, authorization, merchant.funding.signature)),
      sign: { method: "personal_sign", message, digest: hashMessage(message) },
    }),
    offered("fund", missing > 0n ? null : "The funding source may draw the whole cap already.", {
      transaction: send(approveCall(token.address, fundingSource.address, cap)),
    }),
  ];
}

/**
 * What the wallets of a purchase can do now.
 *
 * @param wish - how much to approve, pay or claim, and why: as much as is outstanding, approved or paid when it says nothing.
 */
export function purchaseWalletActions(
  purchase: PurchaseRecord,
  onChain: ChainPurchase,
  wish: { amount: bigint | null; reason: string },
  services: Services,
): OfferedAction[] {
  const { deployment } = services;
  const { registrar, token } = deployment;
  const id = purchase.commitment_hash;
  const now = onChain.asOf.timestamp;
  const outstanding = BigInt(purchase.amount) - onChain.paid;
  const payable = outstanding < onChain.approved ? outstanding : onChain.approved;
  const toApprove = wish.amount ?? outstanding;
  const toPay = wish.amount ?? payable;
  const send = (call: Call, from: Address) => viewTransactionRequest(call, from, deployment);
  const commitment = commitmentOf(purchase, deployment);
  const { beneficiary, buyer, merchant } = purchase;
  const claimed = {
    commitment: id,
    beneficiary,
    requestedAmount: wish.amount ?? onChain.paid,
    reasonHash: hashReason(wish.reason),
  };
  const domain = domainOf(deployment);
  const claimHash = hashClaim(domain, claimed);
  const unpayable = whyNotPayable(purchase, onChain, outstanding, now);
  return [
    offered("register", whyNotRegistrable(purchase, now), {
      transaction: send(registerCall(registrar.address, commitment, purchase.commitment_signature), merchant),
    }),
    offered("approve", unpayable ?? whyNotApprovable(toApprove, outstanding, onChain.approved), {
      transaction: send(approveCall(token.address, registrar.address, toApprove), buyer),
    }),
    offered("pay", unpayable ?? whyNotAffordable(toPay, outstanding, onChain.approved), {
      transaction: send(payCall(registrar.address, id, toPay), buyer),
    }),
    offered("claim", whyNotClaimable(purchase, onChain, now), {
      transaction: send(claimCall(registrar.address, id, claimHash), beneficiary),
      sign: {
        method: "eth_signTypedData_v4",
        typed_data: viewTypedData(claimTypedData(domain, claimed)),
        digest: claimHash,
      },
    }),
  ];
}

function offered(
  name: WalletAction,
  whyNot: string | null,
  needs: { transaction: Json; sign?: Json },
): OfferedAction {
  return whyNot === null
    ? { name, allowed: true, why_not: null, ...needs }
    : { name, allowed: false, why_not: whyNot };
}

function whyNotRegistrable(purchase: PurchaseRecord, now: number): string | null {
  if (purchase.status !== "created") return `The purchase is ${purchase.status}.`;
  return now > purchase.offer_deadline ? "The offer deadline has passed." : null;
}

function whyNotPayable(
  purchase: PurchaseRecord,
  onChain: ChainPurchase,
  outstanding: bigint,
  now: number,
): string | null {
  if (!onChain.exists) return "The purchase is not on chain yet.";
  if (outstanding === 0n) return "The purchase is fully paid.";
  return now > purchase.pay_deadline ? "The payment deadline has passed." : null;
}

function whyNotApprovable(amount: bigint, outstanding: bigint, approved: bigint): string | null {
  if (amount > outstanding) return `Only ${outstanding} base units are outstanding.`;
  if (approved < amount) return null;
  return amount === outstanding
    ? "What is outstanding is approved already."
    : `${approved} base units are approved already.`;
}

function whyNotAffordable(amount: bigint, outstanding: bigint, approved: bigint): string | null {
  if (approved === 0n) return "Nothing is approved to the registrar contract yet.";
  if (amount > outstanding) return `Only ${outstanding} base units are outstanding.`;
  return amount > approved ? `Only ${approved} base units are approved.` : null;
}

function whyNotClaimable(purchase: PurchaseRecord, onChain: ChainPurchase, now: number): string | null {
  if (onChain.paid === 0n) return "Nothing has been paid.";
  if (purchase.claim_id !== null) return "The purchase is claimed already.";
  return now > purchase.claim_deadline ? "The claim deadline has passed." : null;
}
