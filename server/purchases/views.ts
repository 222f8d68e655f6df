import { commitmentTypedData } from "../../protocol/messages/commitment.ts";
import type { Json } from "../../protocol/values/json.ts";
import { toTimestamp } from "../../protocol/values/time.ts";
import { commitmentOf, domainOf } from "../binding/commitment-of.ts";
import { offerableUntil, payableUntil } from "../binding/deadlines.ts";
import type { ChainPurchase } from "../chain/chain-reader.ts";
import { Problem } from "../errors/problem.ts";
import { copyFields } from "../http/answers/copy-fields.ts";
import type { Services } from "../http/services.ts";
import { type Purchase, purchaseSchema } from "../schemas/purchases.ts";
import type { PurchaseParts } from "../store/records/find.ts";
import type { PurchaseRecord } from "../store/records.ts";
import { viewTypedData } from "../transactions/views.ts";
import { reconciledOf, viewPaymentReceipt } from "./payment-receipts.ts";
import { viewClaim, viewDecision, viewRefund } from "./refund-views.ts";

/** A purchase as it is answered, with figures and payment receipts as the chain holds them at one block. */
export function viewPurchase(
  purchase: PurchaseRecord,
  parts: PurchaseParts,
  onChain: ChainPurchase,
  services: Pick<Services, "deployment" | "settings">,
): Purchase {
  const { deployment, settings } = services;
  const program = deployment.programs.find(({ id }) => id === purchase.program);
  if (program === undefined) throw new Problem("not_found", `There is no program ${purchase.program}.`);
  return {
    ...copyFields(purchaseSchema, purchase),
    payment_status: paymentStatus(onChain.paid, BigInt(purchase.amount)),
    expired: isExpired(purchase, onChain),
    withdrawn: onChain.closed === "withdrawn",
    commitment: {
      typed_data: viewCommitment(purchase, services),
      hash: purchase.commitment_hash,
      signature: purchase.commitment_signature,
      signer: program.commitmentSigner,
    },
    deadlines: copyFields(purchaseSchema.shape.deadlines, purchase),
    figures: viewFigures(purchase, onChain),
    receipts: onChain.payments.map((payment) => viewPaymentReceipt(payment, purchase.receipts)),
    claim: parts.claim && viewClaim(parts.claim, purchase),
    decision: parts.decision && viewDecision(parts.decision),
    refund: parts.refund && viewRefund(parts.refund, purchase, onChain),
    wallet_url: `${settings.urls.api}/wallet/${purchase.program}/purchase/${purchase.id}`,
    created_at: toTimestamp(purchase.created_at),
  };
}

/** A purchase's money as the chain has it, besides what is reconciled. */
function viewFigures(purchase: PurchaseRecord, onChain: ChainPurchase) {
  const amount = BigInt(purchase.amount);
  const reconciled = reconciledOf(purchase);
  return {
    amount: purchase.amount,
    approved: onChain.approved.toString(),
    paid: onChain.paid.toString(),
    outstanding: (amount - onChain.paid).toString(),
    refunded: onChain.refunded.toString(),
    reconciled: reconciled.toString(),
    as_of: {
      block_number: onChain.asOf.number,
      block_hash: onChain.asOf.hash,
      timestamp: toTimestamp(onChain.asOf.timestamp),
    },
  } satisfies Json;
}

/** Returns whether it is too late to bring a purchase on chain, or to begin to pay it, in the next block. */
function isExpired(purchase: PurchaseRecord, { exists, paid, nextTime }: ChainPurchase): boolean {
  return (
    (!exists && nextTime > offerableUntil(purchase)) || (paid === 0n && nextTime > payableUntil(purchase))
  );
}

/** The typed data of a purchase's commitment. */
function viewCommitment(purchase: PurchaseRecord, services: Pick<Services, "deployment">) {
  const { deployment } = services;
  return viewTypedData(commitmentTypedData(domainOf(deployment), commitmentOf(purchase, deployment)));
}

function paymentStatus(paid: bigint, amount: bigint): "unpaid" | "partially_paid" | "paid" {
  if (paid === 0n) return "unpaid";
  return paid < amount ? "partially_paid" : "paid";
}
