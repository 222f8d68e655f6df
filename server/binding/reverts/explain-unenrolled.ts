import { hashId } from "../../../protocol/values/id.ts";
import { toTimestamp } from "../../../protocol/values/time.ts";
import type { Services } from "../../http/services.ts";
import { findMerchant } from "../../store/records/find.ts";
import type { PurchaseRecord } from "../../store/records.ts";
import { readFunding } from "../read-funding.ts";
import type { Cause } from "./cause.ts";

/**
 * Explains why the chain has no enrollment for a purchase, and how to get one; the enrollment of another merchant of the wallet
 * covers it as well.
 */
export async function explainUnenrolled(
  { program, merchant_id, merchant: wallet }: PurchaseRecord,
  services: Pick<Services, "chain" | "store">,
): Promise<Cause> {
  const { value } = await findMerchant(services.store, program, merchant_id);
  const [{ revokedAt }, merchantRef] = await Promise.all([
    readFunding(value, services),
    services.chain.enrolledAs({ program: hashId(program), wallet }),
  ]);
  if (merchantRef !== null)
    return {
      wrong: `the chain had no enrollment of the wallet of ${merchant_id}`,
      remedy: null,
      instead: "It has one now, so send it again.",
    };
  return revokedAt === null
    ? { wrong: `the chain had no enrollment of the wallet of ${merchant_id}`, remedy: "Let it enroll" }
    : {
        wrong: `the wallet of ${merchant_id} revoked its enrollment at ${toTimestamp(revokedAt)} and has no other`,
        remedy: "Let it enroll under a new merchant (POST …/merchants)",
      };
}
