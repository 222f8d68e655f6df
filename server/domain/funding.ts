import { hashId } from "../../protocol/id.ts";
import type { Json } from "../../protocol/json.ts";
import type { ChainFunding, ChainRevert } from "../chain/chain.ts";
import { Problem } from "../errors/problem.ts";
import type { Services } from "../services.ts";
import type { DecisionRecord, PurchaseRecord } from "../store/records.ts";
import { findMerchant } from "./find.ts";

/** What keeps a funding from covering an award: the figure that is missing, in the problem's member and in words. */
interface Shortfall {
  figure: "remaining" | "allowance" | "balance" | "valid_until";
  words: string;
}

/** Whether the contract said that the funding does not cover the award, or not any more. */
export function saysFunding({ name }: ChainRevert): boolean {
  return name === "FundingInsufficient" || name === "DeadlinePassed";
}

/**
 * The refusal of a collection that the contract does not allow because of the merchant's funding: with every figure, and which of them
 * are missing. Null when the contract has another reason.
 *
 * @param more - members beside `funding`.
 */
export async function refusalOfFunding(
  revert: ChainRevert,
  { purchase, decision }: { purchase: PurchaseRecord; decision: DecisionRecord },
  services: Services,
  more: { [name: string]: Json } = {},
): Promise<Problem | null> {
  const { program, merchant_id } = purchase;
  const merchant = (await findMerchant(services.store, program, merchant_id)).value;
  const query = { program: hashId(program), merchantRef: hashId(merchant_id), wallet: merchant.wallet };
  const funding = await services.chain.funding(query);
  const award = BigInt(decision.statement.award);
  const remaining = BigInt(merchant.funding.cap) - funding.collected;
  const coveredUntil = coverOf(revert);
  const short = shortfalls(revert, { ...funding, award, remaining, coveredUntil });
  if (short.length === 0) return null;
  const { allowance, balance, revokedAt } = funding;
  const member = {
    award: award.toString(),
    remaining: remaining.toString(),
    allowance: allowance.toString(),
    balance: balance.toString(),
    valid_until: merchant.funding.valid_until,
    revoked_at: revokedAt,
    missing: short.map(({ figure }) => figure),
  };
  const words = short.map((one) => one.words).join(", and ");
  return new Problem("funding_source_insufficient", `The award is ${award}; ${words}.`, {
    members: { ...more, funding: member },
  });
}

/** The last second at which the funding covers refunds, as the contract that refused has it; null when it did not say. */
function coverOf({ name, args }: ChainRevert): number | null {
  return name === "DeadlinePassed" ? Number(args["deadline"]) : null;
}

function shortfalls(
  revert: ChainRevert,
  figures: Pick<ChainFunding, "allowance" | "balance"> & {
    award: bigint;
    remaining: bigint;
    coveredUntil: number | null;
  },
): Shortfall[] {
  const { award, remaining, allowance, balance, coveredUntil } = figures;
  const short: Shortfall[] = [];
  if (revert.name === "FundingInsufficient" || remaining < award)
    short.push({ figure: "remaining", words: `the funding's cap leaves ${remaining}` });
  if (allowance < award)
    short.push({ figure: "allowance", words: `the allowance to the funding source is ${allowance}` });
  if (balance < award) short.push({ figure: "balance", words: `the merchant's balance is ${balance}` });
  if (coveredUntil !== null)
    short.push({
      figure: "valid_until",
      words: `the funding covers this purchase until ${coveredUntil}, before the next block`,
    });
  return short;
}
