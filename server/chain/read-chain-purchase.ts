import { type Address, formatLog, type Hex, isHex, type Log as NodeLog, numberToHex } from "viem";
import { purchaseRegistrarAbi } from "../../protocol/abi.generated.ts";
import { type DecodedLog, decodeLog, selectorOf } from "../../protocol/binding/match-log.ts";
import {
  type BlockPoint,
  type ChainFunding,
  type ChainPurchase,
  ContradictionError,
} from "./chain-reader.ts";
import { type DeployedNode, readNextTime, unlessZero } from "./deployed-node.ts";
import { toObservedLog } from "./observe-transaction.ts";
import { readEnrolled } from "./read-funding.ts";

const payment = { abi: purchaseRegistrarAbi, event: "PurchasePaid" } as const;
const refund = { abi: purchaseRegistrarAbi, event: "RefundCollected" } as const;

/** The contract's `Status`, by its number: none, open, withdrawn, expired. */
const closures = [null, null, "withdrawn", "expired"] as const;

/** A log of a mined block. */
type Log = NodeLog<bigint, number, false>;

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

/** Reads the claim hash and the decision hash of a purchase, in one read. */
export async function readClaim(
  id: Hex,
  { client, reader, registrar }: DeployedNode,
): Promise<Pick<ChainPurchase, "claimHash" | "decisionHash">> {
  const call = { ...registrar, functionName: "figures", args: [id] } as const;
  const { claimHash, decisionHash } = await reader.alone(
    async (at) => await client.readContract({ ...call, ...at }),
  );
  return { claimHash: unlessZero(claimHash), decisionHash: unlessZero(decisionHash) };
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
  const [figures, approved, logs, nextTime] = await Promise.all([
    client.readContract({ ...registrar, functionName: "figures", args: [id], ...at }),
    client.readContract({ ...token, functionName: "allowance", args: [buyer, registrar.address], ...at }),
    readLogs(id, asOf, node),
    readNextTime(node),
  ]);
  const payments = decodeLogs(logs, payment);
  assertAddUp(id, payments, figures.paid);
  return {
    asOf,
    nextTime,
    exists: figures.status !== 0,
    closed: closures[figures.status] ?? null,
    approved,
    paid: figures.paid,
    refunded: figures.refunded,
    claimHash: unlessZero(figures.claimHash),
    decisionHash: unlessZero(figures.decisionHash),
    collectedClaimHash: figures.refunded === 0n ? null : findCollectedClaim(logs),
    payments,
  };
}

/** Reads the logs of a purchase's payments and its refund up to a block. */
async function readLogs(
  id: Hex,
  { number }: BlockPoint,
  { client, registrar }: DeployedNode,
): Promise<Log[]> {
  const logs = await client.request({
    method: "eth_getLogs",
    params: [
      {
        address: registrar.address,
        topics: [[selectorOf(payment), selectorOf(refund)], id],
        fromBlock: "0x0",
        toBlock: numberToHex(number),
      },
    ],
  });
  return logs.map((log) => formatLog(log)).filter(isMined);
}

function isMined(log: NodeLog): log is Log {
  return log.blockHash !== null;
}

function decodeLogs(logs: readonly Log[], expected: typeof payment | typeof refund): DecodedLog[] {
  return logs.map((log) => decodeLog(toObservedLog(log), expected)).filter((log) => log !== null);
}

/** The contract replaces the claim hash with the decision hash: only the log of the refund still has it. */
function findCollectedClaim(logs: readonly Log[]): Hex | null {
  const claim = decodeLogs(logs, refund)[0]?.fields["claimHash"];
  return isHex(claim) ? claim : null;
}

const whoIsWrong =
  "Either the node leaves something out, or what the registrar contract logs is not what it holds: check-contract says which log.";

/** Logs and state are read by different methods: a node that leaves out or invents a payment contradicts itself. */
function assertAddUp(id: Hex, payments: readonly DecodedLog[], paid: bigint): void {
  let total = 0n;
  for (const { fields } of payments) {
    total += BigInt(String(fields["amount"]));
    if (fields["paidTotal"] !== total.toString())
      throw new ContradictionError(
        `A payment log of ${id} says that ${String(fields["paidTotal"])} is paid; the logs up to it add up to ${total}. ${whoIsWrong}`,
      );
  }
  if (total !== paid)
    throw new ContradictionError(
      `The payment logs of ${id} add up to ${total}, and ${paid} are paid. ${whoIsWrong}`,
    );
}
