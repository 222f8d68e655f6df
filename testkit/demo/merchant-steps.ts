import { zeroHash } from "viem";
import type { z } from "zod";
import { purchaseRegistrarAbi } from "../../protocol/abi.generated.ts";
import { revokeFundingCall } from "../../protocol/call.ts";
import { hashId } from "../../protocol/id.ts";
import { merchantSchema } from "../../server/schemas/merchant.ts";
import type { Session } from "./session.ts";

/** A merchant as the API shows it. */
export type DemoMerchant = z.infer<typeof merchantSchema>;

/** What the merchant stands for in refunds: 500 USDC. */
const fundingCap = "500000000";

/** A merchant is created, enrolls on chain, and its funding source is approved. */
export async function enrollMerchant(session: Session): Promise<DemoMerchant> {
  const { merchant: wallet } = session.actors;
  await endEarlierEnrollment(session);
  const merchant = await session.call({
    title: "Merchant: created, its funding authorized by the program's signer",
    method: "POST",
    path: "/merchants",
    intent: "merchant",
    body: { wallet: wallet.address, name: "Corner Books", funding_cap: fundingCap },
    answer: merchantSchema,
    tell: ({ id, status }) => `${id} is ${status}`,
  });
  const { body } = session.sent(
    "Enroll on chain: the merchant's wallet accepts the authorization",
    wallet,
    await wallet.enroll(merchant),
  );
  const enrolled = await session.call({
    title: "Enrollment: transaction and personal signature are confirmed",
    method: "POST",
    path: `/merchants/${merchant.id}/enrollment`,
    intent: "enrollment",
    body,
    answer: merchantSchema,
    tell: ({ id, status, funding }) => `${id} is ${status}, ${funding.remaining} of ${funding.cap} remain`,
  });
  session.sent(
    "Fund: the wallet lets the funding source draw the cap, and nobody else",
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
    "An earlier enrollment of this wallet is revoked",
    merchant,
    await merchant.sendCall(revokeFundingCall(address, hashId(program), merchantRef)),
  );
}
