import { hashId } from "../../protocol/values/id.ts";
import type { Json } from "../../protocol/values/json.ts";
import { toChainTimestamp, toTimestamp } from "../../protocol/values/time.ts";
import type { ChainCover, ChainFunding, ChainRevert } from "../chain/chain-reader.ts";
import { Problem } from "../errors/problem.ts";
import type { Services } from "../http/services.ts";
import { findMerchantId } from "../store/records/find.ts";
import type { DecisionRecord, MerchantRecord, PurchaseRecord } from "../store/records.ts";

/**
 * The reason why a funding does not cover an award: the figure that is missing, in the problem's member and in words.
 */
interface Shortfall {
  figure: "remaining" | "allowance" | "balance" | "valid_until";
  words: string;
  /** Whether the merchant can still give what is missing. */
  canBeGiven: boolean;
}

/** Returns the amount that the cap of a funding leaves, in base units. */
export function remainingOf({ cap, collected }: Pick<ChainCover, "cap" | "collected">): bigint {
  return cap - collected;
}

/** The amount that the wallet of a merchant has to approve to the funding source, and the part that is not approved; in base units. */
interface FundingNeed {
  /** The remaining caps of the merchant's funding and all other active fundings of its wallet, which share one allowance. */
  needed: bigint;
  /** The remaining caps of the other active fundings alone. */
  others: bigint;
  /** How much the allowance lacks: a refund that it does not cover fails. */
  shortfall: bigint;
}

/** Reads how much the wallet of a merchant has to approve to the funding source. */
export async function readFundingNeed(
  merchant: MerchantRecord,
  { asOf: at, collected, allowance }: ChainFunding,
  { chain }: Pick<Services, "chain">,
): Promise<FundingNeed> {
  const { program, id, wallet } = merchant;
  const time = await chain.nextTime();
  const query = { program: hashId(program), merchantRef: hashId(id), wallet, at, time };
  const others = await chain.otherFundings(query);
  const needed = remainingOf({ cap: BigInt(merchant.funding.cap), collected }) + others;
  return { needed, others, shortfall: needed > allowance ? needed - allowance : 0n };
}

/** Returns whether the contract said that the funding does not cover the award, or no longer does. */
export function saysFunding({ name }: ChainRevert): boolean {
  return name === "FundingInsufficient" || name === "DeadlinePassed";
}

/** The token's refusals of a transfer that allowance or balance do not cover. */
const transferReverts: ReadonlySet<unknown> = new Set([
  "ERC20: transfer amount exceeds allowance",
  "ERC20: transfer amount exceeds balance",
]);

/**
 * The refusal of a collection that the contract does not allow because of the funding that covers the purchase: with every figure, and
 * which of them are missing. Null when the contract has another reason.
 *
 * The wallet may have enrolled again before the purchase came on chain: then another merchant's enrollment covers it than the one that
 * the purchase was created under.
 *
 * @param more - members besides `funding`.
 */
export async function refusalOfFunding(
  revert: ChainRevert,
  { purchase, decision }: { purchase: PurchaseRecord; decision: DecisionRecord },
  { chain, store }: Services,
  more: { [name: string]: Json } = {},
): Promise<Problem | null> {
  if (!saysFunding(revert) && !transferReverts.has(revert.args["message"])) return null;
  const cover = await chain.cover(purchase.commitment_hash);
  if (cover === null) return null;
  const award = BigInt(decision.statement.award);
  const remaining = remainingOf(cover);
  const short = shortfalls(revert, { ...cover, award, remaining });
  if (short.length === 0) return null;
  const merchantId = await findMerchantId(store, purchase.program, cover.merchantRef);
  const { allowance, balance, validUntil, revokedAt } = cover;
  const member = {
    merchant_id: merchantId,
    award: award.toString(),
    remaining: remaining.toString(),
    allowance: allowance.toString(),
    balance: balance.toString(),
    valid_until: validUntil,
    revoked_at: revokedAt === null ? null : toTimestamp(revokedAt),
    missing: short.map(({ figure }) => figure),
  };
  const words = short.map((one) => one.words).join(", and ");
  const covering =
    merchantId === purchase.merchant_id
      ? ""
      : ` The enrollment of ${merchantId ?? cover.merchantRef} covers this purchase.`;
  return new Problem("funding_source_insufficient", `The award is ${award}; ${words}.${covering}`, {
    members: { ...more, funding: member },
    retryable: short.every(({ canBeGiven }) => canBeGiven),
  });
}

function shortfalls(
  revert: ChainRevert,
  figures: Pick<ChainCover, "allowance" | "balance"> & { award: bigint; remaining: bigint },
): Shortfall[] {
  const { award, remaining, allowance, balance } = figures;
  const short: Shortfall[] = [];
  const find = (figure: Shortfall["figure"], canBeGiven: boolean, words: string) =>
    short.push({ figure, canBeGiven, words });
  if (revert.name === "FundingInsufficient" || remaining < award)
    find("remaining", false, `the funding cap has ${remaining} left`);
  if (allowance < award)
    find("allowance", true, `the merchant's allowance to the funding source is ${allowance}`);
  if (balance < award) find("balance", true, `the merchant's balance is ${balance}`);
  if (revert.name === "DeadlinePassed") {
    const end = toChainTimestamp(Number(revert.args["deadline"]));
    find("valid_until", false, `the funding authorization was valid until ${end}, before the next block`);
  }
  return short;
}
