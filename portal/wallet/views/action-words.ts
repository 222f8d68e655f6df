import { formatAmount, type Token } from "../../amounts/format-amount.ts";
import type { ActionName } from "../wallet-api.ts";

/** The title, the button and the meaning of each action, in words. */
export const actionWords: { readonly [A in ActionName]: { title: string; button: string; meaning: string } } =
  {
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
        "The merchant's wallet allows the funding source to draw up to this amount, for refunds that a reviewer has awarded. No tokens move now.",
    },
    register: {
      title: "Register the purchase",
      button: "Register",
      meaning:
        "The merchant's wallet registers this purchase on the chain, as the program signed it. No tokens move.",
    },
    approve: {
      title: "Approve",
      button: "Approve",
      meaning:
        "The buyer's wallet allows the registrar contract to take up to this amount. No tokens move yet.",
    },
    pay: {
      title: "Pay",
      button: "Pay",
      meaning: "The buyer's wallet pays this amount to the merchant. These test tokens move at once.",
    },
    pay_with_permit: {
      title: "Pay in one step",
      button: "Pay with the permit",
      meaning:
        "Instead of approving first, the buyer's wallet signs a permit for exactly this amount, and then pays. The permit replaces an existing approval.",
    },
    claim: {
      title: "Claim money back",
      button: "Sign and claim",
      meaning:
        "The beneficiary's wallet signs the claimed amount and the reason, and files the claim on the chain. No tokens move until a reviewer decides.",
    },
  };

/** The first sentence of the reason why an action is not possible, without the names of operations, hashes and base units. */
export function plainReason(whyNot: string, token: Token): string {
  const [sentence = ""] =
    /^.*?\.(?= |$)/.exec(
      whyNot.replace(/^(?:The transaction would revert|POST \S+ would refuse it): /, ""),
    ) ?? [];
  return sentence
    .replace(/,[^,]*\b0x[0-9a-f]{64}/, "")
    .replace(/(\d+) base units/g, (_, units: string) => formatAmount(units, token));
}

/** The fields of a call or of typed data that hold an amount or a time, by name. */
const amounts = new Set(["cap", "amount", "value", "requestedAmount"]);
const times = new Set(["validUntil", "offerDeadline", "payDeadline", "claimDeadline", "deadline"]);

/** Returns whether a field is an amount of the token, a time in Unix seconds, or shown as it is. */
export function kindOf(name: string): "amount" | "time" | "plain" {
  const last = name.slice(name.lastIndexOf(".") + 1);
  return amounts.has(last) ? "amount" : times.has(last) ? "time" : "plain";
}
