import { isHex } from "viem";
import type { Json } from "../../protocol/json.ts";
import { toChainTimestamp } from "../../protocol/time.ts";
import { decodeRevert } from "../../relayer/node/decode-revert.ts";
import type { ChainRevert } from "../chain/chain-reader.ts";

type Words = (args: { [name: string]: Json }, approved: bigint) => string;

/** The errors that a wallet meets in an action of its own. */
const words: { readonly [error: string]: Words } = {
  AlreadyClaimed: () => "The purchase is claimed already.",
  AlreadyEnrolled: () => "The wallet is enrolled in the program already.",
  AlreadyRefunded: () => "The purchase is refunded already.",
  AmountOutOfRange: ({ most }) =>
    most === "0" ? "The purchase is fully paid." : `Only ${most} base units are outstanding.`,
  DeadlinePassed: ({ deadline }) => `The deadline was ${toChainTimestamp(Number(deadline))}.`,
  InvalidSignature: ({ signer }) =>
    `The program's commitment signer on chain is ${signer}, which has not signed this.`,
  FundingTooShort: ({ validUntil, claimDeadline }) =>
    `The merchant's funding is valid until ${toChainTimestamp(Number(validUntil))}, ` +
    `and the purchase can be claimed until ${toChainTimestamp(Number(claimDeadline))}.`,
  FundingInsufficient: ({ remaining }) => `The merchant's funding covers only ${remaining} base units.`,
  MerchantRefTaken: () => "The merchant has enrolled before, and can only once.",
  NotEnrolled: () => "The merchant's wallet has no enrollment in the program, or has revoked it.",
  PermitRefused: ({ reason }, approved) =>
    `The token refuses the permit. ${describeReason(reason, approved)}`,
  NothingPaid: () => "Nothing has been paid.",
  ProgramPaused: () => "The program is paused.",
  PurchaseExists: () => "The purchase is on chain already.",
  UnknownPurchase: () => "The purchase is not on chain yet.",
  WrongStatus: () => "The purchase has expired, or its offer was withdrawn.",
};

/** What the token says of a permit whose nonce was used, or that its owner has not signed. */
const invalidPermit = "EIP2612: invalid signature";

/** The token's refusals, which are texts. */
const tokenWords: { readonly [text: string]: Words } = {
  "ERC20: transfer amount exceeds allowance": (_, approved) =>
    approved === 0n
      ? "Nothing is approved to the registrar contract yet."
      : `Only ${approved} base units are approved to the registrar contract.`,
  [invalidPermit]: () => "It was used already, or its owner has not signed these terms.",
  "ERC20: transfer amount exceeds balance": () => "The wallet does not hold as many tokens.",
};

/**
 * Says in words why a wallet's call reverts.
 *
 * @param approved - the wallet's allowance to the registrar contract, in base units.
 * @example describeRevert({ name: "NothingPaid", args: {} }, 0n) // "Nothing has been paid."
 */
export function describeRevert({ name, args }: ChainRevert, approved: bigint): string {
  if (name === null) return "The contract gives no reason.";
  if (name !== "Error") return words[name]?.(args, approved) ?? nameError(name, args);
  const text = String(Object.values(args)[0]);
  return tokenWords[text]?.(args, approved) ?? `${text}.`;
}

/** Whether a payment reverts because the token takes its permit for no signature of the owner: not of these terms, or not any more. */
export function saysInvalidPermit({ name, args }: ChainRevert): boolean {
  return name === "PermitRefused" && decodeReason(args["reason"]).args["message"] === invalidPermit;
}

function describeReason(reason: Json | undefined, approved: bigint): string {
  return describeRevert(decodeReason(reason), approved);
}

function decodeReason(reason: Json | undefined): ChainRevert {
  const revert = typeof reason === "string" && isHex(reason) ? decodeRevert(reason) : null;
  return { name: revert?.name ?? null, args: revert?.args ?? {} };
}

function nameError(name: string, args: { [name: string]: Json }): string {
  const shown = Object.entries(args).map(([argument, value]) => `${argument} ${String(value)}`);
  return `${name}(${shown.join(", ")}).`;
}
