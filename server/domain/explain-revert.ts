import { isHex } from "viem";
import type { Json } from "../../protocol/json.ts";
import { toChainTimestamp } from "../../protocol/time.ts";
import { decodeRevert } from "../../relayer/node/decode-revert.ts";
import type { ChainRevert } from "../chain/chain-reader.ts";
import type { Services } from "../services.ts";
import type { PurchaseRecord } from "../store/records.ts";
import type { Cause } from "./cause.ts";
import { explainUnenrolled } from "./merchant-steps.ts";

/** The steps whose calls are explained, by their names in a binding report. */
export type ExplainedStep =
  | "enrollment"
  | "funding approval"
  | "offer"
  | "registration"
  | "payment approval"
  | "payment"
  | "claim"
  | "refund";

/** What is known of a step whose call reverts. */
export interface RevertedStep {
  step: ExplainedStep;
  /** The purchase that it is about; null for a merchant's step. */
  purchase: PurchaseRecord | null;
  /** The buyer's allowance to the registrar contract, in base units; null where it is not known. */
  approved?: bigint | null;
  /** What the node says of a revert without an error of the contract. */
  message?: string;
}

type Args = { [name: string]: Json };

const removeIt = "Remove the cause";

/** The registrar contract's errors, as a step meets them. */
const causes: { readonly [error: string]: (args: Args, step: ExplainedStep) => Cause } = {
  AlreadyClaimed: () => ({
    wrong: "the purchase is claimed already",
    remedy: null,
    instead: "File the claim that the chain has, with the transaction that made it.",
  }),
  AlreadyEnrolled: () => ({
    wrong: "the wallet is enrolled in the program already",
    remedy: "Let the wallet revoke that enrollment",
  }),
  AlreadyRefunded: ({ decisionHash }) => ({
    wrong: `a refund of this purchase was collected already, under the decision hash ${decisionHash}`,
    remedy: null,
  }),
  AmountOutOfRange: ({ actual, most }, step) =>
    step === "refund" ? missingPayment(actual, most) : tooMuch(actual, most),
  DeadlinePassed: ({ deadline }) => ({
    wrong: `the deadline was ${toChainTimestamp(Number(deadline))}`,
    remedy: null,
  }),
  FundingInsufficient: ({ amount, remaining }) => ({
    wrong: `the purchase is of ${amount}, and the merchant's funding has ${remaining} left`,
    remedy: "Let the wallet revoke its enrollment and enroll under a new merchant with a higher cap",
  }),
  FundingTooShort: ({ validUntil, claimDeadline }) => ({
    wrong:
      `the merchant's funding is valid until ${toChainTimestamp(Number(validUntil))}, ` +
      `and the purchase can be claimed until ${toChainTimestamp(Number(claimDeadline))}`,
    remedy: "Let the wallet revoke its enrollment and enroll under a new merchant with a longer validity",
  }),
  InvalidSignature: ({ signer }, step) => ({
    wrong: `the program's commitment signer on chain is ${signer}, which has not signed this ${step === "enrollment" ? "funding authorization" : "purchase"}`,
    remedy:
      step === "enrollment"
        ? "Let the program's admin set the signer of the funding authorization again"
        : "Let the program's admin set the purchase's commitment.signer again",
  }),
  MerchantRefTaken: () => ({
    wrong: "the merchant has enrolled before, and can only once",
    remedy: null,
    instead: "Confirm the transaction that enrolled it.",
  }),
  NotClaimed: () => ({
    wrong: "the chain has no claim of this purchase any more",
    remedy: "Let the beneficiary send its claim again",
  }),
  NothingPaid: () => ({
    wrong: "nothing has been paid",
    remedy: "Let the buyer pay, and reconcile the payment with operation 10",
  }),
  PermitRefused: ({ reason }) => {
    const { wrong, remedy } = tokenCause(decodeReason(reason), "payment", null);
    return { wrong: `the token refuses the permit: ${wrong}`, remedy };
  },
  ProgramPaused: () => ({
    wrong: "the program is paused",
    remedy: "Let the program's admin end the pause",
  }),
  PurchaseExists: (_, step) => ({
    wrong: "the purchase is on chain already",
    remedy: null,
    ...(step === "registration" ? { instead: "Confirm the transaction that registered it." } : {}),
  }),
  UnknownPurchase: () => ({
    wrong: "the purchase is not on chain yet",
    remedy: "Let the relayer offer it (operation 8) or its merchant register it",
  }),
  WrongCaller: ({ actual, expected }) => ({
    wrong: `the program's operator on chain is ${expected}, and the relayer is ${actual}`,
    remedy: "Let the program's admin set the relayer as operator again",
  }),
  WrongStatus: ({ actual }) => ({
    wrong:
      String(actual) === "2"
        ? "the offer of the purchase was withdrawn"
        : "the purchase has expired on chain",
    remedy: null,
    instead: "Create a new purchase.",
  }),
};

function missingPayment(award: Json | undefined, paid: Json | undefined): Cause {
  return {
    wrong: `the award is ${award}, and the chain has payments of ${paid} in all, because a reorg has removed one`,
    remedy: "Let the buyer send the missing payment again",
  };
}

function tooMuch(amount: Json | undefined, most: Json | undefined): Cause {
  return most === "0"
    ? { wrong: "the purchase is fully paid", remedy: null, instead: "Nothing is left to pay." }
    : {
        wrong: `only ${most} base units are outstanding`,
        remedy: null,
        instead: `Let the buyer pay ${most} in place of ${amount}.`,
      };
}

/** What the token says of a permit whose nonce was used, or that its owner has not signed. */
const invalidPermit = "EIP2612: invalid signature";

const parties = {
  refund: "the funding source, the merchant's wallet or the beneficiary",
  payment: "the registrar contract, the buyer or the merchant's wallet",
  approval: "the wallet",
} as const;

/** The token's refusals, which are texts. */
const tokenCauses: { readonly [text: string]: (step: ExplainedStep, approved: bigint | null) => Cause } = {
  "ERC20: transfer amount exceeds allowance": (step, approved) =>
    step === "refund"
      ? {
          wrong: "the merchant's allowance to the funding source does not cover the award",
          remedy: "Let the merchant approve the funding source for it",
        }
      : { wrong: saysApproved(approved), remedy: "Let the buyer approve the payment" },
  "ERC20: transfer amount exceeds balance": (step) =>
    step === "refund"
      ? { wrong: "the merchant's balance does not cover the award", remedy: "Let the merchant hold it" }
      : { wrong: "the wallet does not hold as many tokens", remedy: "Let it hold them" },
  "Pausable: paused": () => ({ wrong: "the token is paused", remedy: "Let its pauser unpause it" }),
  "Blacklistable: account is blacklisted": (step) => ({
    wrong: `the token blocks ${parties[step === "refund" || step === "payment" ? step : "approval"]}`,
    remedy: "Let its blocklister unblock it",
  }),
  [invalidPermit]: () => ({
    wrong: "it was used already, or its owner has not signed these terms",
    remedy: "Let the buyer sign the permit that the wallet route shows now",
  }),
};

function saysApproved(approved: bigint | null): string {
  if (approved === null) return "the buyer's allowance to the registrar contract does not cover the payment";
  return approved === 0n
    ? "nothing is approved to the registrar contract yet"
    : `only ${approved} base units are approved to the registrar contract`;
}

/**
 * Says why a step's call reverts, and what makes it succeed or what to do in its place: of a call that is simulated, of one that the
 * relayer sent and of a wallet's own transaction.
 *
 * @example (await explainRevert({ name: "NothingPaid", args: {} }, about, services)).wrong // "nothing has been paid"
 */
export async function explainRevert(
  revert: ChainRevert,
  about: RevertedStep,
  services: Pick<Services, "chain" | "store">,
): Promise<Cause> {
  const { step, purchase, approved = null, message = "the contract gives no reason" } = about;
  const { name, args } = revert;
  if (name === "NotEnrolled" && purchase !== null) return await explainUnenrolled(purchase, services);
  if (name === null)
    return message.startsWith("out of gas")
      ? { wrong: "it ran out of gas", remedy: "Set a higher gas limit" }
      : { wrong: withoutStop(message), remedy: removeIt };
  const cause = name === "Error" ? tokenCause(revert, step, approved) : causes[name]?.(args, step);
  return cause === undefined
    ? { wrong: nameError(name, args), remedy: removeIt }
    : await inTime(name, cause, about, services);
}

/** A wallet can repeat what a reorg has removed only until its deadline. */
async function inTime(
  name: string,
  cause: Cause,
  { step, purchase }: RevertedStep,
  { chain }: Pick<Services, "chain">,
): Promise<Cause> {
  if (purchase === null || step !== "refund") return cause;
  const { claim_deadline, pay_deadline } = purchase;
  const deadlines: { readonly [error: string]: number } = {
    NotClaimed: claim_deadline,
    AmountOutOfRange: pay_deadline,
  };
  const due = deadlines[name];
  if (due === undefined || (await chain.nextTime()) <= due) return cause;
  return { wrong: `${cause.wrong}, and the deadline for another was ${toChainTimestamp(due)}`, remedy: null };
}

function tokenCause({ name, args }: ChainRevert, step: ExplainedStep, approved: bigint | null): Cause {
  if (name === null) return { wrong: "it gives no reason", remedy: removeIt };
  if (name !== "Error") return { wrong: nameError(name, args), remedy: removeIt };
  const text = String(Object.values(args)[0]);
  return tokenCauses[text]?.(step, approved) ?? { wrong: withoutStop(text), remedy: removeIt };
}

/** Whether a payment reverts because the token takes its permit for no signature of the owner: not of these terms, or not any more. */
export function saysInvalidPermit({ name, args }: ChainRevert): boolean {
  return name === "PermitRefused" && decodeReason(args["reason"]).args["message"] === invalidPermit;
}

function decodeReason(reason: Json | undefined): ChainRevert {
  const revert = typeof reason === "string" && isHex(reason) ? decodeRevert(reason) : null;
  return { name: revert?.name ?? null, args: revert?.args ?? {} };
}

function nameError(name: string, args: Args): string {
  const shown = Object.entries(args).map(([argument, value]) => `${argument} ${String(value)}`);
  return `the contract answers ${name}(${shown.join(", ")})`;
}

function withoutStop(sentence: string): string {
  return sentence.replace(/\.$/, "");
}
