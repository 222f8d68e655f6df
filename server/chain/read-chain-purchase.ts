import { type Address, getAbiItem, type Hex } from "viem";
import { purchaseRegistrarAbi } from "../../protocol/abi.generated.ts";
import { type DecodedLog, decodeLog } from "../../protocol/binding/match-log.ts";
import {
  type BlockPoint,
  type ChainFunding,
  type ChainPurchase,
  ChainUnavailableError,
} from "./chain-reader.ts";
import { type DeployedNode, unlessZero } from "./deployed-node.ts";
import { toObservedLog } from "./observe-transaction.ts";
import { readEnrolled } from "./read-funding.ts";

const paymentEvent = getAbiItem({ abi: purchaseRegistrarAbi, name: "PurchasePaid" });
const refundEvent = getAbiItem({ abi: purchaseRegistrarAbi, name: "RefundCollected" });

/** The contract's `Status`, by its number: none, open, withdrawn, expired. */
const closures = [null, null, "withdrawn", "expired"] as const;

/** The purchase to read, by its commitment hash. */
interface PurchaseQuery {
  id: Hex;
  buyer: Address;
}

/** Reads a purchase's figures and payments at one block: the newest, or the one that is given. */
export async function readChainPurchase(
  query: PurchaseQuery,
  point: BlockPoint | undefined,
  node: DeployedNode,
): Promise<ChainPurchase> {
  return await node.reader.atOneHead(async (asOf) => await readPurchaseAt(query, asOf, node), point);
}

/** Reads the funding of a merchant and then a purchase, both at the newest block. */
export async function readPurchaseUnder(
  { program, merchantRef }: { program: Hex; merchantRef: Hex },
  find: (funding: ChainFunding) => Promise<PurchaseQuery>,
  node: DeployedNode,
): Promise<ChainPurchase> {
  return await node.reader.inTwoSteps(
    async (asOf) => await readEnrolled([program, merchantRef], asOf, node),
    async (funding, asOf) => await readPurchaseAt(await find(funding), asOf, node),
  );
}

async function readPurchaseAt(
  { id, buyer }: PurchaseQuery,
  asOf: BlockPoint,
  node: DeployedNode,
): Promise<ChainPurchase> {
  const { client, registrar, token } = node;
  const at = { blockHash: asOf.hash } as const;
  const [figures, approved, logs] = await Promise.all([
    client.readContract({ ...registrar, functionName: "figures", args: [id], ...at }),
    client.readContract({ ...token, functionName: "allowance", args: [buyer, registrar.address], ...at }),
    client.getLogs({
      address: registrar.address,
      event: paymentEvent,
      args: { id },
      fromBlock: 0n,
      toBlock: BigInt(asOf.number),
    }),
  ]);
  const payments = logs
    .map((log) => decodeLog(toObservedLog(log), { abi: purchaseRegistrarAbi, event: "PurchasePaid" }))
    .filter((log) => log !== null);
  assertAddUp(id, payments, figures.paid);
  return {
    asOf,
    exists: figures.status !== 0,
    closed: closures[figures.status] ?? null,
    approved,
    paid: figures.paid,
    refunded: figures.refunded,
    claimHash: unlessZero(figures.claimHash),
    decisionHash: unlessZero(figures.decisionHash),
    collectedClaimHash: figures.refunded === 0n ? null : await readCollectedClaim(id, asOf, node),
    payments,
  };
}

/** The contract replaces the claim hash with the decision hash: only the log of the refund still has it. */
async function readCollectedClaim(
  id: Hex,
  { number }: BlockPoint,
  { client, registrar: { address } }: DeployedNode,
): Promise<Hex | null> {
  const toBlock = BigInt(number);
  const [log] = await client.getLogs({ address, event: refundEvent, args: { id }, fromBlock: 0n, toBlock });
  return log?.args.claimHash ?? null;
}

/** Logs and state are read by different methods: a node that leaves out or invents a payment contradicts itself. */
function assertAddUp(id: Hex, payments: readonly DecodedLog[], paid: bigint): void {
  let total = 0n;
  for (const { fields } of payments) {
    total += BigInt(String(fields["amount"]));
    if (fields["paidTotal"] !== total.toString())
      throw new ChainUnavailableError(
        `A payment log of ${id} says that ${String(fields["paidTotal"])} is paid; the logs up to it add up to ${total}.`,
      );
  }
  if (total !== paid)
    throw new ChainUnavailableError(
      `The node's payment logs of ${id} add up to ${total}, its figures say ${paid}.`,
    );
}
