import { type Address, isAddress, isHex } from "viem";
import type { Json } from "../../../protocol/values/json.ts";
import { toChainTimestamp } from "../../../protocol/values/time.ts";
import { decodeRevert } from "../../../relayer/node/decode-revert.ts";
import type { ChainRevert } from "../../chain/chain-reader.ts";
import type { Services } from "../../http/services.ts";
import { escapeControls } from "../../lib/escape-controls.ts";
import { readOnChain } from "../../store/records/find.ts";
import type { PurchaseRecord } from "../../store/records.ts";
import { offerableUntil, payableUntil } from "../deadlines.ts";
import type { FoundPermit } from "../permits.ts";
import type { Cause } from "./cause.ts";
import { explainUnenrolled } from "./explain-unenrolled.ts";
import { explainMissing, missingPayment } from "./removed-by-reorg.ts";

/** The steps whose calls are explained, by their names in a binding report. */
export const explainedSteps = [
  "enrollment",
  "funding approval",
  "offer",
  "registration",
  "payment approval",
  "payment",
  "claim",
  "refund",
] as const;

/** One of {@link explainedSteps}. */
export type ExplainedStep = (typeof explainedSteps)[number];

/** The known facts of a step whose call reverts. */
export interface RevertedStep {
  step: ExplainedStep;
  /** The purchase that it is about; null for a merchant's step. */
  purchase: PurchaseRecord | null;
  /** The buyer's allowance to the registrar contract, in base units; null where it is not known. */
  approved?: bigint | null;
  /** The amount that a collection draws, in base units. */
  award?: bigint;
  /** The permit that a payment is made under. */
  permit?: FoundPermit | null;
  /** The node's message about a revert without an error of the contract. */
  message?: string;
}

type Args = { [name: string]: Json };

const removeIt = "Remove the cause";

const offered: Cause = {
  wrong: "other software has offered the purchase already",
  remedy: null,
  instead: "Create a new purchase.",
};

const collected = {
  remedy: null,
  instead:
    "The figures of the purchase have it, and its status stays: only a refund of the relayer changes it.",
};

/** The message of the program's commitment signer that a step needs. */
const signedIn = (step: ExplainedStep) => (step === "enrollment" ? "funding authorization" : "purchase");

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
  AlreadyRefunded: ({ decisionHash }, step) =>
    step === "refund"
      ? {
          wrong: `other software has collected a refund under the decision hash ${decisionHash}`,
          ...collected,
        }
      : {
          wrong: `a refund of this purchase was collected already, under the decision hash ${decisionHash}`,
          remedy: null,
        },
  AmountOutOfRange: ({ actual, max }, step) =>
    step === "refund" ? missingPayment(String(actual), String(max)) : tooMuch(actual, max),
  DeadlinePassed: ({ deadline }) => ({
    wrong: `the deadline was ${toChainTimestamp(Number(deadline))}`,
    remedy: null,
  }),
  FundingInsufficient: ({ amount, remaining }) => ({
    wrong: `the purchase is of ${amount}, and the merchant's funding cap has ${remaining} left`,
    remedy: "Let the wallet revoke its enrollment and enroll under a new merchant with a higher cap",
  }),
  FundingTooShort: ({ validUntil, claimDeadline }) => ({
    wrong:
      `the merchant's funding authorization is valid until ${toChainTimestamp(Number(validUntil))}, ` +
      `and the purchase can be claimed until ${toChainTimestamp(Number(claimDeadline))}`,
    remedy: "Let the wallet revoke its enrollment and enroll under a new merchant with a longer validity",
  }),
  InvalidSignature: ({ signer }, step) => ({
    wrong: `the program's commitment signer on chain is ${signer}, which has not signed this ${signedIn(step)}`,
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
    remedy: "Let the buyer pay, and reconcile the payment with POST …/reconcile",
  }),
  ProgramPaused: () => ({
    wrong: "the program is paused",
    remedy: "Let the program's admin end the pause",
  }),
  PurchaseExists: () => offered,
  UnknownPurchase: () => ({
    wrong: "no purchase with this id is on chain",
    remedy: "Let the relayer offer it (POST …/activate) or its merchant register it",
  }),
  WrongCaller: ({ actual, expected }, step) =>
    step === "offer" || step === "refund"
      ? {
          wrong: `the program's operator on chain is ${expected}, and the relayer is ${actual}`,
          remedy: "Let the program's admin set the relayer as operator again",
        }
      : { wrong: `only ${expected} may send it, and ${actual} did`, remedy: `Let ${expected} send it` },
  WrongStatus: ({ actual }) => ({
    wrong:
      String(actual) === "2"
        ? "the offer of the purchase was withdrawn"
        : "the purchase has expired on chain",
    remedy: null,
    instead: "Create a new purchase.",
  }),
};

const registered: Cause = {
  wrong: "the purchase is on chain already",
  remedy: null,
  instead: "Confirm the transaction that registered it.",
};

function tooMuch(amount: Json | undefined, max: Json | undefined): Cause {
  return max === "0"
    ? { wrong: "the purchase is fully paid", remedy: null, instead: "Nothing is left to pay." }
    : {
        wrong: `only ${max} base units are outstanding`,
        remedy: null,
        instead: `Let the buyer pay ${max} in place of ${amount}.`,
      };
}

/** The token's error for a permit whose nonce was used, or that its owner has not signed. */
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
};

const signAgain = "Let the buyer sign the permit that the wallet route shows now";

/** The token's refusals of a permit's signature or deadline, which are texts. */
const permitCauses: { readonly [text: string]: (found: FoundPermit | null) => Cause } = {
  "FiatTokenV2: permit is expired": () => ({ wrong: "its deadline has passed", remedy: signAgain }),
  "ECRecover: invalid signature 's' value": () => ({
    wrong: "its s is in the upper half of the curve's order",
    remedy: "Let the buyer sign with a low s",
  }),
  "ECRecover: invalid signature 'v' value": () => ({
    wrong: "its v is neither 27 nor 28",
    remedy: "Send v as 27 or 28",
  }),
  "ECRecover: invalid signature": () => ({ wrong: "its signature is of no account", remedy: signAgain }),
  [invalidPermit]: (found) =>
    found?.hasCode === true && found.nonce === found.next
      ? {
          wrong: "the code that the buyer delegates to refuses its signature (isValidSignature, ERC-1271)",
          remedy: "Let the buyer approve the payment and pay",
        }
      : { wrong: whyInvalid(found), remedy: signAgain },
};

function whyInvalid(found: FoundPermit | null): string {
  if (found === null) return "it was used already, or its owner has not signed these terms";
  const { nonce, next } = found;
  return nonce === null
    ? "its signature is not the buyer's over these terms"
    : `it is for nonce ${nonce}, which was used, and the token expects nonce ${next}`;
}

function permitCause(reason: ChainRevert, found: FoundPermit | null): Cause {
  const { wrong, remedy } =
    permitCauses[String(reason.args["message"])]?.(found) ?? tokenCause(reason, "payment", null);
  return { wrong: `the token refuses the permit: ${wrong}`, remedy };
}

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
  // If the purchase is on chain already, no other cause matters.
  const bringsOnChain = step === "registration" || step === "offer";
  const route =
    bringsOnChain && purchase !== null ? await services.chain.route(purchase.commitment_hash) : null;
  if (route !== null) return step === "offer" && route === "registrar_offer" ? offered : registered;
  if (name === "NotEnrolled" && purchase !== null) return await explainUnenrolled(purchase, services);
  if (name === null)
    return message.startsWith("out of gas")
      ? { wrong: "it ran out of gas", remedy: "Set a higher gas limit" }
      : { wrong: withoutStop(message), remedy: removeIt };
  const signer = name === "InvalidSignature" ? args["signer"] : null;
  if (typeof signer === "string" && isAddress(signer)) {
    const code = await services.chain.walletCode(signer, await services.chain.head());
    if (code !== "none") return refusedByCode(signer, step);
  }
  const cause =
    name === "Error"
      ? tokenCause(revert, step, approved)
      : name === "PermitRefused"
        ? permitCause(decodeReason(args["reason"]), about.permit ?? null)
        : causes[name]?.(args, step);
  return cause === undefined
    ? { wrong: nameError(name, args), remedy: removeIt }
    : ((await explainRemoved(name, about, services)) ?? (await inTime(name, cause, about, services)));
}

function refusedByCode(signer: Address, step: ExplainedStep): Cause {
  return {
    wrong: `the program's commitment signer on chain, ${signer}, has code, which refuses the signature of this ${signedIn(step)} (isValidSignature, ERC-1271)`,
    remedy: "Let the signer's code accept it, or let the signer end its delegation to that code (EIP-7702)",
  };
}

/** Returns a cause without its remedy if the deadline of that remedy has passed. */
async function inTime(
  name: string,
  cause: Cause,
  { purchase }: RevertedStep,
  { chain }: Pick<Services, "chain">,
): Promise<Cause> {
  if (purchase === null) return cause;
  const deadlines: { readonly [error: string]: number } = {
    NothingPaid: payableUntil(purchase),
    UnknownPurchase: offerableUntil(purchase),
  };
  const due = deadlines[name];
  if (due === undefined || (await chain.nextTime()) <= due) return cause;
  return { wrong: `${cause.wrong}, and the deadline for that was ${toChainTimestamp(due)}`, remedy: null };
}

/** Explains a revert by a reorg that removed a precondition of a collection; null when that is not the cause. */
async function explainRemoved(
  name: string,
  { step, purchase, award }: RevertedStep,
  services: Pick<Services, "chain">,
): Promise<Cause | null> {
  if (purchase === null || step !== "refund" || award === undefined) return null;
  if (name !== "NotClaimed" && name !== "AmountOutOfRange") return null;
  const onChain = await readOnChain(purchase, services);
  return explainMissing(purchase, onChain, { least: award, time: await services.chain.nextTime() });
}

function tokenCause({ name, args }: ChainRevert, step: ExplainedStep, approved: bigint | null): Cause {
  if (name === null) return { wrong: "it gives no reason", remedy: removeIt };
  if (name !== "Error") return { wrong: nameError(name, args), remedy: removeIt };
  const text = String(Object.values(args)[0]);
  return (
    tokenCauses[text]?.(step, approved) ?? { wrong: withoutStop(escapeControls(text)), remedy: removeIt }
  );
}

/** Names a revert: the token's text, or the contract's error. */
export function labelRevert({ name, args }: ChainRevert): string {
  if (name === null) return "no error of the contract";
  if (name === "PermitRefused") return `${name} (${labelRevert(decodeReason(args["reason"]))})`;
  return name === "Error" ? `"${escapeControls(String(Object.values(args)[0]))}"` : name;
}

/**
 * Returns whether a payment reverts because the token refuses its permit's signature: the owner has not signed these
 * terms, or the signature is no longer valid.
 */
export function saysInvalidPermit({ name, args }: ChainRevert): boolean {
  return name === "PermitRefused" && decodeReason(args["reason"]).args["message"] === invalidPermit;
}

function decodeReason(reason: Json | undefined): ChainRevert {
  const revert = typeof reason === "string" && isHex(reason) ? decodeRevert(reason) : null;
  return { name: revert?.name ?? null, args: revert?.args ?? {} };
}

function nameError(name: string, args: Args): string {
  const shown = Object.entries(args).map(
    ([argument, value]) => `${argument} ${escapeControls(String(value))}`,
  );
  return `the contract reverts with ${name}(${shown.join(", ")})`;
}

function withoutStop(sentence: string): string {
  return sentence.replace(/\.$/, "");
}
