import { type Address, getAddress, type PublicClient } from "viem";
import { purchaseRegistrarAbi, testUsdcAbi } from "../../../protocol/abi.generated.ts";
import { hashId } from "../../../protocol/values/id.ts";
import { toTimestamp } from "../../../protocol/values/time.ts";
import type { BlockPoint } from "../../../server/chain/chain-reader.ts";
import type { Deployment } from "../../../server/chain/deployment.ts";
import { reconciledOf } from "../../../server/purchases/payment-receipts.ts";
import type { MerchantRecord, PurchaseRecord } from "../../../server/store/records.ts";
import type { FiguresView, MerchantView } from "../views.ts";

/** Reads the money of purchases at one block, all of it in one request to the node. */
export async function readFigures(
  purchases: readonly PurchaseRecord[],
  head: BlockPoint,
  node: PublicClient,
  deployment: Deployment,
): Promise<FiguresView[]> {
  const registrar = { address: deployment.registrar.address, abi: purchaseRegistrarAbi } as const;
  const at = { blockHash: head.hash };
  const buyers = new Map<Address, Promise<bigint>>();
  for (const { buyer } of purchases)
    if (!buyers.has(buyer)) buyers.set(buyer, allowance(buyer, registrar.address, head, node, deployment));
  return await Promise.all(
    purchases.map(async ({ commitment_hash, amount, buyer, receipts }) => {
      const [{ paid, refunded }, approved = 0n] = await Promise.all([
        node.readContract({ ...registrar, functionName: "figures", args: [commitment_hash], ...at }),
        buyers.get(buyer),
      ]);
      return {
        amount,
        approved: approved.toString(),
        paid: paid.toString(),
        reconciled: reconciledOf({ receipts }).toString(),
        refunded: refunded.toString(),
      };
    }),
  );
}

/** Reads what merchants cover in refunds at one block, all of it in one request to the node. */
export async function readFundings(
  merchants: readonly MerchantRecord[],
  head: BlockPoint,
  node: PublicClient,
  deployment: Deployment,
): Promise<MerchantView["funding"][]> {
  const at = { blockHash: head.hash };
  return await Promise.all(
    merchants.map(async ({ id, program, wallet, funding: { cap, valid_until } }) => {
      const [{ collected, revokedAt }, allowed, balance] = await Promise.all([
        node.readContract({
          address: deployment.registrar.address,
          abi: purchaseRegistrarAbi,
          functionName: "funding",
          args: [hashId(program), hashId(id)],
          ...at,
        }),
        allowance(wallet, deployment.fundingSource.address, head, node, deployment),
        node.readContract({
          address: deployment.token.address,
          abi: testUsdcAbi,
          functionName: "balanceOf",
          args: [getAddress(wallet)],
          ...at,
        }),
      ]);
      return {
        cap,
        collected: collected.toString(),
        allowance: allowed.toString(),
        balance: balance.toString(),
        valid_until: toTimestamp(valid_until),
        revoked_at: revokedAt === 0n ? null : toTimestamp(Number(revokedAt)),
      };
    }),
  );
}

async function allowance(
  owner: Address,
  spender: Address,
  head: BlockPoint,
  node: PublicClient,
  deployment: Deployment,
): Promise<bigint> {
  return await node.readContract({
    address: deployment.token.address,
    abi: testUsdcAbi,
    functionName: "allowance",
    args: [owner, spender],
    blockHash: head.hash,
  });
}
