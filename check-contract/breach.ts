import { messageOf } from "../protocol/coded-error.ts";
import { askedByCode, formerSigner } from "./rules/signers.ts";

/** A rule that the contract breaks, as one check shows it. Checks that show the same rule are one finding. */
export interface Breach {
  /** A sentence: what the contract did, and what it must do. */
  failure: string;
  /** The rule, as a sentence; without it, the check's own name. */
  rule?: string | undefined;
  /** Says in place of the rule that a call must succeed, if it was refused. */
  mustSucceed?: string | undefined;
  /** A rule that includes it: if that is broken too, both are one finding. */
  includedIn?: string | undefined;
  /** The rule of the error that the call was refused with in place of another one: if a valid call is refused with it too, both are one finding. */
  instead?: string | undefined;
  /** The function that the contract was called with last: without a rule, the check belongs to the finding that has this function. */
  calls?: string | undefined;
  /** Whether a step failed from which the check starts: if an event shows why, both are one finding. */
  isStep?: boolean;
}

/** The result of a check: null when it passed; a sentence is a breach of the rule that the check is named by. */
export type Outcome = Breach | string | null;

/** The names of the calls of each function, as rules have them. */
const subjects: { readonly [functionName: string]: string } = {
  openProgram: "an opening",
  setBounds: "a change of the bounds",
  setPaused: "a pause",
  transferAdmin: "a transfer of the admin's role",
  acceptAdmin: "an acceptance of the admin's role",
  enroll: "an enrollment",
  revokeFunding: "a revocation",
  register: "a registration",
  offer: "an offer",
  withdrawOffer: "a withdrawal",
  expire: "an expiry",
  pay: "a payment",
  payBatch: "a payment",
  payWithPermit: "a payment",
  claim: "a claim",
  collectRefund: "a refund",
  draw: "a draw from the funding source",
};

/** The first words of the rules about calls. */
export const callNames: readonly string[] = [...new Set(Object.values(subjects))];

/** When a call must revert with an error. */
const conditions: { readonly [error: string]: string } = {
  AlreadyClaimed: "after a claim",
  AlreadyEnrolled: "of a wallet that is enrolled",
  AlreadyRefunded: "after the refund",
  AlreadyRevoked: "of a revoked funding",
  AmountOutOfRange: "of an amount outside its bounds",
  BatchLengths: "of lists of different lengths",
  BudgetExceeded: "above the budget of open offers",
  DeadlineNotPassed: "before the deadline has passed",
  DeadlinePassed: "after the deadline",
  DeadlinesOutOfOrder: "with deadlines out of order",
  Error: "that the token refuses",
  FundingInsufficient: "above what is left of the cap",
  FundingTooShort: "with a claim deadline after the funding",
  InexactTransfer: "by which another amount moves",
  InvalidSignature: "without a valid signature",
  MerchantRefTaken: "under a merchantRef that is taken",
  NotClaimed: "without a claim",
  NotEnrolled: "of a merchant without an active enrollment, such as after a revocation,",
  NotRegistrar: "by another account than the registrar contract",
  NothingOutstanding: "of a purchase that is paid",
  NothingPaid: "before a payment",
  Panic: "with a Panic",
  PermitRefused: "with a permit that the token refuses",
  ProgramAlreadyOpen: "of a program that is open",
  ProgramNotOpen: "in a program that is not open",
  ProgramPaused: "while the program is paused",
  PurchaseExists: "of a purchase that is on chain",
  SafeERC20FailedOperation: "that the token refuses",
  SameParty: "between a merchant and itself",
  TokenMismatch: "in another token than the funding's",
  UnknownFunding: "of an unknown funding",
  UnknownPurchase: "of an unknown purchase",
  WrongCaller: "by another account",
  WrongRoute: "of a purchase of the other route",
  WrongStatus: "of a purchase that is not open",
  ZeroValue: "with a zero value",
};

/** The fields of the views that show what a call is refused for, and the views that return only that. */
const shownBy: { readonly [error: string]: readonly string[] } = {
  AlreadyClaimed: ["claimHash"],
  AlreadyEnrolled: ["enrolledAs()"],
  AlreadyRefunded: ["refunded", "decisionHash"],
  AlreadyRevoked: ["revokedAt"],
  AmountOutOfRange: ["amount", "paid", "maxPurchase"],
  BudgetExceeded: ["openOffers", "openBudget", "program"],
  DeadlineNotPassed: ["payDeadline"],
  DeadlinePassed: ["payDeadline", "claimDeadline", "validUntil"],
  FundingInsufficient: ["cap", "collected"],
  FundingTooShort: ["validUntil"],
  InvalidSignature: ["commitmentSigner"],
  MerchantRefTaken: ["wallet"],
  NotClaimed: ["claimHash"],
  NotEnrolled: ["enrolledAs()"],
  NothingOutstanding: ["amount", "paid"],
  NothingPaid: ["paid"],
  ProgramAlreadyOpen: ["admin"],
  ProgramNotOpen: ["admin"],
  // Of a budget that no offer was counted in.
  Panic: ["program"],
  ProgramPaused: ["paused", "program"],
  PurchaseExists: ["status"],
  TokenMismatch: ["token"],
  UnknownFunding: ["wallet"],
  UnknownPurchase: ["status"],
  WrongCaller: [
    "program",
    "admin",
    "pendingAdmin()",
    "operator",
    "wallet",
    "merchant",
    "buyer",
    "beneficiary",
  ],
  WrongRoute: ["route"],
  WrongStatus: ["status"],
};

/** The fields of the views that show what an event has under another name. */
const storedAs: { readonly [eventField: string]: readonly string[] } = {
  award: ["refunded"],
  collectedTotal: ["collected"],
  merchantRef: ["enrolledAs()"],
  newAdmin: ["admin", "pendingAdmin()"],
  paidTotal: ["paid"],
  previousAdmin: ["admin"],
  released: ["amount", "openOffers", "paid"],
};

/** A rule about a field of a view or an event, or about a view that returns one value. */
const valueRule = /^(?:the field (\w+) of )?(?:the event )?(\w+(?:\(\))?) (?:has|returns) the right value$/;

/** The rule of an event too many. The service does not find its own event in such logs. */
export const extraEventRule = "a call emits no event that it must not emit";

/** The rule of events in another order. The service compares those of a batch in their order. */
export const orderRule = "a call emits its events in the right order";

/** The rule that a view or a field of its result is right. */
export const viewRule = /\(\) (?:returns|has) the right value$/;

/**
 * Returns whether a broken rule about a value that a view or an event shows says why one about an error, or about the same value in an event, is
 * broken too: what the contract stores is wrong.
 *
 * @example followsFrom("a refund after the deadline is refused", "the field validUntil of funding() has the right value") // true
 */
export function followsFrom(rule: string, shownRule: string): boolean {
  if (shownRule === extraEventRule) return /^the event \w+ is emitted when it must be$/.test(rule);
  if (shownRule === orderRule) return /^the field (?:id|amount) of the event PurchasePaid /.test(rule);
  if (shownRule === formerSigner)
    return rule === askedByCode || rule.startsWith("the argument signer of the error InvalidSignature ");
  const [, field, shownIn] = valueRule.exec(shownRule) ?? [];
  const shown = field ?? shownIn;
  if (shown === undefined) return false;
  // It shows which funding a refund draws on, whose deadline, cap and allowance count.
  if (field === "collected" && shownIn === "funding()" && rule.startsWith("a refund ")) return true;
  // The program of a purchase says whose budget it counts in.
  if (field === "program" && rule === "the field openOffers of programState() has the right value")
    return true;
  // The view was called by a contract.
  if (field !== undefined && rule === `${shownIn} returns the right value`) return true;
  const [, argumentOf] = /^the argument \w+ of the error (\w+) /.exec(rule) ?? [];
  if (argumentOf !== undefined) return shownBy[argumentOf]?.includes(shown) ?? false;
  const [, eventField = ""] = /^the field (\w+) of the event /.exec(rule) ?? [];
  if (eventField !== "") return eventField === field || (storedAs[eventField]?.includes(shown) ?? false);
  return Object.entries(shownBy).some(
    ([error, fields]) => rule.endsWith(` ${conditions[error]} is refused`) && fields.includes(shown),
  );
}

/** Errors of a token: they show that the contract's own check is missing, and not that it has another one. */
const tokenErrors = ["Error", "InexactTransfer", "SafeERC20FailedOperation", "PermitRefused"];

/**
 * Returns the rule that a call of a function must revert with an error.
 *
 * @example ruleOf("payBatch", "DeadlinePassed") // "a payment after the deadline is refused"
 */
export function ruleOf(functionName: string | undefined, error: string): string | undefined {
  if (error.startsWith("NonCanonical")) return "calldata that is not canonical is refused";
  const subject = subjects[functionName ?? ""];
  return subject && `${subject} ${conditions[error] ?? `with the error ${error}`} is refused`;
}

/** Returns the rule that a call of a function breaks: the error that it must revert with, or the one that it must not. */
export function brokenRule(
  functionName: string | undefined,
  expected: string | undefined,
  actual: string | undefined,
): string | undefined {
  const isOwn = actual !== undefined && !tokenErrors.includes(actual) && actual in conditions;
  // A permit that was refused wrongly hides what the token says about the transfer.
  const isPermit = expected === "Error" && actual === "PermitRefused";
  const error = isOwn || isPermit ? actual : (expected ?? actual);
  if (error === undefined) return undefined;
  return ruleOf(functionName, error);
}

/** Returns a rule with that of the error which was expected: a call that is refused for another reason may show that its check is missing. */
export function withIncluding(
  rule: string | undefined,
  functionName: string | undefined,
  expected: string | undefined,
): Pick<Breach, "rule" | "includedIn"> {
  const includedIn = expected && ruleOf(functionName, expected);
  return includedIn === rule ? { rule } : { rule, includedIn };
}

/**
 * Returns the breach of a call that must succeed, and was refused with an error.
 *
 * @example wronglyRefused("collectRefund", "ProgramPaused").mustSucceed // "a refund that must succeed is not refused with ProgramPaused"
 */
export function wronglyRefused(
  functionName: string | undefined,
  error: string | undefined,
): Pick<Breach, "rule" | "mustSucceed" | "calls"> {
  const subject = subjects[functionName ?? ""];
  return {
    rule: brokenRule(functionName, undefined, error),
    mustSucceed: subject && `${subject} that must succeed is not refused with ${error ?? "no reason"}`,
    calls: functionName,
  };
}

/**
 * Thrown when a step that must succeed, since what follows starts from it, was refused.
 *
 * Not a CodedError: it becomes a finding of the report, and no caller of the check gets it.
 */
export class RefusedStepError extends Error {
  override readonly name = "RefusedStepError";
  readonly breach: Breach;

  constructor(breach: Breach) {
    super(breach.failure);
    this.breach = { ...breach, isStep: true };
  }
}

/** Returns the breach that an error shows which a check has thrown. */
export function breachOf(error: unknown): Breach {
  return error instanceof RefusedStepError ? error.breach : { failure: messageOf(error) };
}

/** Returns the name of the error in a description such as "reverted with DeadlinePassed(…)", or "no reason". */
export function errorIn(description: unknown): string | undefined {
  return /^reverted with (no reason|the unknown error \w+|[A-Z]\w*)/.exec(String(description))?.[1];
}
