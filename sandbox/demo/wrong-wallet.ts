import type { Hex } from "viem";
import { payCall } from "../../protocol/call.ts";
import type { DemoPurchase } from "./purchase-steps.ts";
import type { Session } from "./session.ts";

/** A stranger sends the buyer's payment; the contract reverts it, and its hash exists all the same. */
export async function payFromStranger(
  session: Session,
  purchase: DemoPurchase,
  amount: bigint,
): Promise<Hex> {
  const { stranger, contracts } = session.actors;
  const call = payCall(contracts.registrar, purchase.commitment.hash, amount);
  const { status, transactionHash, blockNumber } = await stranger.send(call);
  session.narrator.step(
    "Pay: a stranger pays for the buyer",
    `${stranger.address} → ${call.to} pay(${amount})`,
    `${status} in block ${blockNumber}: ${transactionHash}`,
  );
  return transactionHash;
}
