/** Every kind of outbox event and when it is written. */
export const eventTypes = {
  "merchant.created": "A merchant was created and authorized for funding.",
  "merchant.enrolled": "A merchant's wallet enrollment was confirmed.",
  "purchase.created": "A purchase commitment was signed.",
  "purchase.activated": "The registrar's offer of a purchase was confirmed.",
  "purchase.registered": "The merchant's own registration of a purchase was confirmed.",
  "purchase.reconciled": "Receipts of a purchase were recorded or taken back.",
  "purchase.claimed": "A beneficiary's claim was confirmed.",
  "purchase.decided": "The designated reviewer's decision was recorded.",
  "refund.due": "An award was recorded whose collection is not confirmed yet.",
  "refund.collected": "A refund was collected from the funding source.",
  "wallet.submitted": "A wallet submitted a transaction or a signature over its wallet route.",
} as const satisfies { [type: string]: string };

/** The type of an outbox event. */
export type EventType = keyof typeof eventTypes;
