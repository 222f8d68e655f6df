import type { Hex } from "viem";
import type { Session } from "./session.ts";
import type { DemoPurchase } from "./show-purchase.ts";

/** A stranger sends the buyer's payment; the contract reverts it, and its hash exists anyway. */
export async function payFromStranger(
  session: Session,
  purchase: DemoPurchase,
  amount: bigint,
): Promise<Hex> {
  const { stranger } = session.actors;
  const { call, receipt, transaction_hash } = await stranger.pay(purchase, amount);
  session.printer.step(
    "A stranger's wallet pays the purchase of the buyer",
    `${stranger.address} → ${call.to} ${call.function}(${amount})`,
    `${receipt.status} in block ${receipt.blockNumber}: ${transaction_hash}`,
  );
  return transaction_hash;
}
