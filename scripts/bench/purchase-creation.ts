import type { SandboxDescription } from "../../sandbox/state/description.ts";
import { actorsOf } from "../../testkit/demo/actors.ts";
import { silentPrinter } from "../../testkit/demo/printer.ts";
import { Session } from "../../testkit/demo/session.ts";
import { enrollMerchant } from "../../testkit/demo/show-merchant.ts";

/** Enrolls a merchant in a sandbox, and returns the request that creates a purchase of its own each time it is sent with another key. */
export async function purchaseCreation(description: SandboxDescription) {
  const actors = actorsOf(description);
  const session = await Session.open(actors, silentPrinter);
  const merchant = await enrollMerchant(session);
  const body = JSON.stringify({
    merchant_id: merchant.id,
    buyer: actors.buyer.address,
    beneficiary: actors.beneficiary.address,
    amount: "25000000",
    terms: { title: "A course on settlement", sku: "course-42" },
  });
  const path = `/v1/routing/programs/${actors.program}/purchases`;
  return { session, merchant, path, body };
}
