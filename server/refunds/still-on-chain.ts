import type { Hex } from "viem";
import { expectClaim } from "../binding/expectations.ts";
import { RefusedTransaction } from "../binding/refused-transaction.ts";
import { requireBound } from "../binding/require-bound.ts";
import type { ChainPurchase } from "../chain/chain-reader.ts";
import type { Problem } from "../errors/problem.ts";
import { assertPaymentsOnChain } from "../payments/assert-payments-on-chain.ts";
import { sayRemedy, sayWrong } from "../reverts/cause.ts";
import type { Services } from "../services.ts";
import { readOnChain } from "../store/records/find.ts";
import type { ClaimRecord, PurchaseRecord } from "../store/records.ts";
import { submissionKey } from "../wallets/submissions.ts";
import { assertFiledClaim } from "./claims.ts";
import { explainMissing } from "./missing-on-chain.ts";

/**
 * Asks whether the chain still has what is decided on: a reorg may have removed the claim or payments since.
 *
 * @throws Problem that says what is missing, and who can send it again.
 */
export async function assertStillOnChain(
  claim: ClaimRecord,
  purchase: PurchaseRecord,
  services: Services,
): Promise<void> {
  const onChain = await readOnChain(purchase, services);
  assertFiledClaim(claim, onChain, {
    about: `The claim ${claim.id} is`,
    instead: "resolve it outside of this service",
  });
  const hash = await claimTransaction(claim, services);
  const use = { key: hash, step: "claim", subject: purchase.id } as const;
  const expected = expectClaim(purchase, claim.claim_hash, onChain.exists, services);
  try {
    await requireBound(hash, expected, use, services);
  } catch (error) {
    throw error instanceof RefusedTransaction && error.code === "transaction_not_found"
      ? await explainGone(error, purchase, onChain, services)
      : error;
  }
  await assertPaymentsOnChain(purchase, onChain, services);
}

/** Returns the refusal of a claim whose transaction the chain no longer knows: the missing transaction, and who can send it again. */
async function explainGone(
  refused: RefusedTransaction,
  purchase: PurchaseRecord,
  onChain: ChainPurchase,
  { chain }: Services,
): Promise<Problem> {
  const time = await chain.nextTime();
  const missing = explainMissing(purchase, onChain, { least: 1n, time });
  if (missing === null)
    return refused.because(
      `The chain has the claim by another transaction than ${refused.transactionHash}. ` +
        "Submit that one over the wallet route (claim), then send the identical request again.",
      true,
    );
  const again = "submit it over the wallet route, and send the identical request again";
  const then = sayRemedy(missing, again, "No repeat of this request succeeds.");
  return refused.because(`${sayWrong(missing)} ${then}`, missing.remedy !== null);
}

/** The transaction of a claim: the one that it was filed with or, once a reorg has removed that, the one that it was sent again with. */
async function claimTransaction(
  { program, purchase_id, claim_hash, transaction_hash }: ClaimRecord,
  { chain, store }: Services,
): Promise<Hex> {
  if ((await chain.observe(transaction_hash)).receipt !== null) return transaction_hash;
  const again = await store.get("submissions", submissionKey(program, purchase_id, "claim", claim_hash));
  return again?.value.transaction_hash ?? transaction_hash;
}
