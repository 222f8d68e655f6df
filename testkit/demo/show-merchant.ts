import { zeroHash } from "viem";
import { purchaseRegistrarAbi } from "../../protocol/abi.generated.ts";
import { revokeFundingCall } from "../../protocol/call.ts";
import { hashId } from "../../protocol/values/id.ts";
import type { components } from "../../sandbox/client/api-client.ts";
import type { Session } from "./session.ts";

/** A merchant as the API answers it. */
export type DemoMerchant = components["schemas"]["Merchant"];

/** The cap of the merchant's funding for refunds: 500 USDC. */
const fundingCap = "500000000";

/** A merchant is created, enrolls on chain, and its funding source is approved. */
export async function enrollMerchant(session: Session): Promise<DemoMerchant> {
  const { merchant: wallet } = session.actors;
  await endEarlierEnrollment(session);
  const merchant = session.report(
    "Create the merchant: the program's signer authorizes its funding",
    await session.api.POST("/v1/routing/programs/{program}/merchants", {
      params: session.write("merchant"),
      body: { wallet: wallet.address, name: "Corner Books", funding_cap: fundingCap },
    }),
    ({ id, status }) => `${id} is ${status}`,
  );
  const { body } = session.sent(
    "The merchant's wallet enrolls on the chain and accepts the funding authorization",
    wallet,
    await wallet.enroll(merchant),
  );
  const enrolled = session.report(
    "Confirm the enrollment with its transaction and signature",
    await session.api.POST("/v1/routing/programs/{program}/merchants/{id}/enrollment", {
      params: session.write("enrollment", merchant.id),
      body,
    }),
    ({ id, status, funding }) => `${id} is ${status}, ${funding.remaining} of ${funding.cap} remain`,
  );
  session.sent(
    "The merchant's wallet approves the funding source for the whole cap",
    wallet,
    await wallet.fund(enrolled),
  );
  return enrolled;
}

/** One wallet has one enrollment in a program: one of an earlier run is ended first. */
async function endEarlierEnrollment(session: Session): Promise<void> {
  const { chain, contracts, program, merchant } = session.actors;
  const { registrar: address } = contracts;
  const query = { address, abi: purchaseRegistrarAbi, functionName: "enrolledAs" } as const;
  const merchantRef = await chain.readContract({ ...query, args: [hashId(program), merchant.address] });
  if (merchantRef === zeroHash) return;
  session.sent(
    "The merchant's wallet revokes its earlier enrollment",
    merchant,
    await merchant.sendCall(revokeFundingCall(address, hashId(program), merchantRef)),
  );
}
