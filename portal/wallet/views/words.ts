import type { ActionName } from "../wallet-api.ts";

/** The title, the button and the meaning of each action, in words. */
export const words: { readonly [A in ActionName]: { title: string; button: string; meaning: string } } = {
  enroll: {
    title: "Enroll this wallet",
    button: "Sign and enroll",
    meaning:
      "The wallet proves that it is this merchant's: it signs a message and sends one transaction, which names how much the program may collect from it for refunds. No tokens move.",
  },
  fund: {
    title: "Let refunds be collected",
    button: "Approve the funding source",
    meaning:
      "The wallet lets the funding source draw up to this amount from it, for refunds that a reviewer has awarded. No tokens move now.",
  },
  register: {
    title: "Register the purchase",
    button: "Register",
    meaning: "The merchant's wallet puts this purchase on chain, as the program signed it. No tokens move.",
  },
  approve: {
    title: "Approve the payment",
    button: "Approve",
    meaning:
      "The buyer's wallet lets the registrar contract take up to this amount. No tokens move until it pays.",
  },
  pay: {
    title: "Pay",
    button: "Pay",
    meaning: "The buyer's wallet pays this amount to the merchant. These test tokens move at once.",
  },
  pay_with_permit: {
    title: "Pay without an approval",
    button: "Pay with the permit",
    meaning:
      "The buyer's wallet signs a permit (EIP-2612), which lets the registrar contract take exactly this amount, and then pays in one transaction. It needs no approval, and replaces one that is there. No tokens move until it pays.",
  },
  claim: {
    title: "Claim money back",
    button: "Sign and claim",
    meaning:
      "The beneficiary's wallet signs how much is claimed and why, and records that on chain. No tokens move until a reviewer decides.",
  },
};

/** The fields of a call or of typed data that hold an amount or a time, by name. */
const amounts = new Set(["cap", "amount", "value", "requestedAmount"]);
const times = new Set(["validUntil", "offerDeadline", "payDeadline", "claimDeadline", "deadline"]);

/** Returns whether a field is an amount of the token, a time in Unix seconds, or shown as it is. */
export function kindOf(name: string): "amount" | "time" | "plain" {
  const last = name.slice(name.lastIndexOf("..") + 1);
  return amounts.has(last) ? "amount" : times.has(last) ? "time" : "plain";
}
