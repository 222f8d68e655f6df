import { claimableUntil, offerableUntil } from "../binding/deadlines.ts";
import type { ChainPurchase } from "../chain/chain-reader.ts";
import { Problem } from "../errors/problem.ts";
import type { Services } from "../http/services.ts";
import { isUnderWay } from "../relay/relay.ts";
import type { PurchaseStatus } from "../schemas/purchases.ts";
import { readOnChain } from "../store/records/find.ts";
import type { PurchaseRecord } from "../store/records.ts";
import { otherClaim, readFiledClaim } from "./filed-claim.ts";
import { reconciledOf, whyPaymentsRemoved } from "./payment-receipts.ts";

/** The steps that act on a purchase. */
export type PurchaseStep = "activate" | "registration" | "reconcile" | "claims" | "decisions" | "refunds";

/** The steps that each state takes; payment is not a state, it is read from the chain. */
const stepsOf: { readonly [S in PurchaseStatus]: readonly PurchaseStep[] } = {
  created: ["activate", "registration"],
  active: ["reconcile", "claims"],
  claimed: ["reconcile", "decisions"],
  approved: ["reconcile", "refunds"],
  denied: ["reconcile"],
  refund_due: ["reconcile", "refunds"],
  refunded: ["reconcile"],
};

/** Says why a purchase does not take a step, as far as its record tells; null when it does. */
export function whyNotStep(purchase: PurchaseRecord, step: PurchaseStep): string | null {
  if (!stepsOf[purchase.status].includes(step))
    return `A purchase that is ${purchase.status} does not allow ${step}.`;
  if (step === "claims" && reconciledOf(purchase) === 0n)
    return "A claim needs a reconciled payment. Reconcile it with POST …/reconcile.";
  return null;
}

/**
 * Asks whether a purchase takes a step.
 *
 * @throws Problem state_conflict with `current_state` and `allowed`.
 */
export async function assertStep(
  purchase: PurchaseRecord,
  step: PurchaseStep,
  services: Services,
): Promise<void> {
  const whyNot = whyNotStep(purchase, step);
  if (whyNot === null) return;
  const allowed = await stepsNow(purchase, services);
  const isOfState = !stepsOf[purchase.status].includes(step) && allowed.length > 0;
  const never =
    purchase.status === "created" && allowed.length === 0 ? await whyNeverActive(purchase, services) : null;
  const possible = isOfState ? `${whyNot.slice(0, -1)}; possible now: ${allowed.join(", ")}.` : whyNot;
  const detail = never === null ? possible : `${whyNot} ${never}`;
  throw await stepConflict(purchase, detail, services, allowed);
}

/**
 * Asks whether a purchase that a batch pays besides the asked one can be reconciled with it.
 *
 * @throws Problem state_conflict that names that purchase, with what it takes now.
 */
export async function assertPaidTogether(other: PurchaseRecord, services: Services): Promise<void> {
  if (whyNotStep(other, "reconcile") === null) return;
  const detail =
    `The batch also pays ${other.id}, which is ${other.status}, and a batch is recorded as a whole. ` +
    `Take that purchase's next step first: it is under "allowed".`;
  const { members } = await stepConflict(other, detail, services);
  throw new Problem("state_conflict", detail, { members: { ...members, purchase: other.id } });
}

/**
 * Asks whether a purchase that the chain holds came there by the route that a step confirms.
 *
 * @throws Problem state_conflict that names the other route's operation.
 */
export async function assertRoute(
  purchase: PurchaseRecord,
  route: NonNullable<PurchaseRecord["route"]>,
  services: Services,
): Promise<void> {
  const taken = await services.chain.route(purchase.commitment_hash);
  if (taken === null || taken === route) return;
  if (taken === "merchant_direct")
    throw await stepConflict(
      purchase,
      "The merchant has registered this purchase. Confirm that with POST …/registration, which takes only a transaction that the merchant's wallet has signed.",
      services,
    );
  const detail =
    (await whyNeverActive(purchase, services)) ??
    "The relayer has offered this purchase. Confirm that with POST …/activate.";
  throw await stepConflict(purchase, detail, services);
}

/** Says why a created purchase that the chain holds is never active: other software has offered it. Null if its route can be confirmed. */
export async function whyNeverActive(purchase: PurchaseRecord, services: Services): Promise<string | null> {
  const { program, commitment_hash: businessKey } = purchase;
  if ((await services.chain.route(businessKey)) !== "registrar_offer") return null;
  if (await isUnderWay({ program, kind: "offer", businessKey }, services)) return null;
  return "Other software has offered this purchase with the key of the program's operator, and only an offer of the relayer activates it. Create a new purchase.";
}

/** Says why a purchase whose refund the chain has is never refunded: other software has collected it. Null if the relayer has. */
export async function whyNeverRefunded(purchase: PurchaseRecord, services: Services): Promise<string | null> {
  const { program } = purchase;
  const { decisionHash: businessKey } = await readOnChain(purchase, services);
  if (businessKey === null) return null;
  if (await isUnderWay({ program, kind: "collect_refund", businessKey }, services)) return null;
  return "Other software has collected this refund with the key of the program's operator, and only a refund of the relayer changes the purchase.";
}

/** The refusal of a step that a purchase does not take now. */
export async function stepConflict(
  purchase: PurchaseRecord,
  detail: string,
  services: Services,
  allowed?: readonly PurchaseStep[],
): Promise<Problem> {
  return new Problem("state_conflict", detail, {
    members: {
      current_state: purchase.status,
      allowed: [...(allowed ?? (await stepsNow(purchase, services)))],
      reconciled: reconciledOf(purchase).toString(),
    },
  });
}

/** The steps that a purchase takes by its state, its deadlines and what the chain has of it; program, funding and gas can refuse them still. */
async function stepsNow(purchase: PurchaseRecord, services: Services): Promise<PurchaseStep[]> {
  const { chain } = services;
  const steps = stepsOf[purchase.status].filter((step) => whyNotStep(purchase, step) === null);
  if (!steps.some((step) => chainDecides.has(step))) return steps;
  const onChain = await readOnChain(purchase, services);
  if (purchase.status === "created" && onChain.exists) {
    if ((await whyNeverActive(purchase, services)) !== null) return [];
    return [
      (await chain.route(purchase.commitment_hash)) === "merchant_direct" ? "registration" : "activate",
    ];
  }
  const filed = await readFiledClaim(purchase, services);
  if (filed !== null && otherClaim(filed, onChain) !== null)
    return steps.filter((step) => !chainDecides.has(step));
  if (steps.includes("refunds") && (await whyNeverRefunded(purchase, services)) !== null)
    return steps.filter((step) => !chainDecides.has(step));
  const nextBlock = await chain.nextTime();
  return steps.filter((step) => !chainDecides.has(step) || isOpen(step, purchase, onChain, nextBlock));
}

/** The steps that the record alone does not decide. */
const chainDecides: ReadonlySet<PurchaseStep> = new Set([
  "activate",
  "registration",
  "claims",
  "decisions",
  "refunds",
]);

/**
 * Returns whether the chain has the preconditions of the next step: time left for its transaction, the payments, the
 * claim that is decided.
 */
function isOpen(
  step: PurchaseStep,
  purchase: PurchaseRecord,
  onChain: ChainPurchase,
  nextBlock: number,
): boolean {
  const { status } = purchase;
  if (status === "created") return nextBlock <= offerableUntil(purchase);
  // The contract overwrites the claim hash when the refund is collected.
  const isClaimed = onChain.claimHash !== null || onChain.decisionHash !== null;
  if (step === "refunds") return isClaimed;
  const mayClaim = isClaimed || (status === "active" && nextBlock <= claimableUntil(purchase));
  return mayClaim && whyPaymentsRemoved(purchase, onChain) === null;
}
