import type { Json } from "../../protocol/json.ts";
import { toChainTimestamp } from "../../protocol/time.ts";
import type { OperationKind, RelayOperation } from "../../relayer/relayer.ts";

/** Why a relayed call fails: what is wrong, and what makes it succeed; null when nothing does. */
interface Cause {
  wrong: string;
  remedy: string | null;
}

type Args = { [name: string]: Json };

const nouns: { readonly [K in OperationKind]: string } = { offer: "offer", collect_refund: "collection" };

/** The registrar contract's errors that no code of their own tells. */
const causes: { readonly [error: string]: (args: Args) => Cause } = {
  WrongCaller: ({ actual, expected }) => ({
    wrong: `the program's operator on chain is ${expected}, and the relayer is ${actual}`,
    remedy: "Let the program's admin set the relayer as operator again",
  }),
  InvalidSignature: ({ signer }) => ({
    wrong: `the program's commitment signer on chain is ${signer}, which has not signed this purchase`,
    remedy: "Let the program's admin set the purchase's commitment.signer again",
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
  PurchaseExists: () => ({ wrong: "the purchase is on chain already", remedy: null }),
  NotClaimed: () => ({
    wrong: "the chain has no claim of this purchase any more",
    remedy: "Let the beneficiary send its claim again",
  }),
  AlreadyRefunded: ({ decisionHash }) => ({
    wrong: `a refund of this purchase was collected already, under the decision hash ${decisionHash}`,
    remedy: null,
  }),
};

/** The token's refusals, which are texts. */
const tokenCauses: { readonly [text: string]: Cause } = {
  "ERC20: transfer amount exceeds allowance": {
    wrong: "the merchant's allowance to the funding source does not cover the award",
    remedy: "Let the merchant approve the funding source for it",
  },
  "ERC20: transfer amount exceeds balance": {
    wrong: "the merchant's balance does not cover the award",
    remedy: "Let the merchant hold it",
  },
  "Pausable: paused": { wrong: "the token is paused", remedy: "Let its pauser unpause it" },
  "Blacklistable: account is blacklisted": {
    wrong: "the token blocks the merchant's wallet or the beneficiary",
    remedy: "Let its blocklister unblock it",
  },
};

/**
 * Says why a relay operation reverted, or would have, what that means for its step and what to do.
 *
 * @returns `retryable`: whether the identical request can succeed after that.
 * @example describeRelayedRevert(operation).detail // "The collection was not sent: the token is paused. Let …"
 */
export function describeRelayedRevert(operation: RelayOperation): { detail: string; retryable: boolean } {
  const { wrong, remedy } = causeOf(operation);
  const noun = nouns[operation.kind];
  const what =
    operation.status === "reverted" ? `The transaction of the ${noun} reverted` : `The ${noun} was not sent`;
  const then =
    remedy === null
      ? `No repeat of this request succeeds.`
      : `${remedy}, then send the identical request again.`;
  return { detail: `${what}: ${wrong}. ${then}`, retryable: remedy !== null };
}

function causeOf({ error, status_reason, status }: RelayOperation): Cause {
  const remedy = "Remove the cause";
  const revert = error?.revert ?? null;
  if (revert === null) return { wrong: withoutStop(error?.message ?? status_reason ?? status), remedy };
  const { name, args } = revert;
  const text = name === "Error" ? String(args["message"]) : null;
  const known = text === null ? causes[name]?.(args) : tokenCauses[text];
  return known ?? { wrong: withoutStop(text ?? nameError(name, args)), remedy };
}

function nameError(name: string, args: Args): string {
  const shown = Object.entries(args).map(([argument, value]) => `${argument} ${String(value)}`);
  return `the contract answers ${name}(${shown.join(", ")})`;
}

function withoutStop(sentence: string): string {
  return sentence.replace(/\.$/, "");
}
