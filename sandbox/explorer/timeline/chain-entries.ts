import { formatLog, type Log, type PublicClient, parseAbiItem, toHex } from "viem";
import { purchaseRegistrarAbi } from "../../../protocol/abi.generated.ts";
import { decodeLog } from "../../../protocol/binding/match-log.ts";
import type { Json } from "../../../protocol/values/json.ts";
import { toTimestamp } from "../../../protocol/values/time.ts";
import type { BlockPoint } from "../../../server/chain/chain-reader.ts";
import type { PurchaseRecord } from "../../../server/store/records.ts";
import type { Sources } from "../sources.ts";
import type { TimelineEntry } from "../views.ts";
import { type OrderedEntry, type TimelineStep, timelineEntry } from "./timeline-entry.ts";

/** The registrar's events about one purchase, with what each means and which of its fields are shown. */
const purchaseEvents = {
  PurchaseOffered: {
    step: "on chain",
    kind: "on_chain",
    title: "The operator offered it on chain.",
    fields: [],
  },
  PurchaseRegistered: {
    step: "on chain",
    kind: "on_chain",
    title: "The merchant registered it on chain.",
    fields: [],
  },
  PurchasePaid: {
    step: "paid",
    kind: "paid",
    title: "The buyer paid on chain.",
    fields: ["amount", "paidTotal"],
  },
  PurchaseClaimed: {
    step: "claimed on chain",
    kind: "claimed",
    title: "The beneficiary claimed on chain.",
    fields: ["claimHash"],
  },
  RefundCollected: {
    step: "collected on chain",
    kind: "refunded",
    title: "The award moved on chain.",
    fields: ["award", "claimHash"],
  },
  OfferWithdrawn: {
    step: "ended on chain",
    kind: "on_chain",
    title: "The offer was withdrawn on chain.",
    fields: ["released"],
  },
  PurchaseExpired: {
    step: "ended on chain",
    kind: "on_chain",
    title: "It expired on chain.",
    fields: ["released"],
  },
} as const satisfies {
  [event: string]: {
    step: TimelineStep;
    kind: TimelineEntry["kind"];
    title: string;
    fields: readonly string[];
  };
};

type PurchaseEvent = keyof typeof purchaseEvents;
const eventNames = Object.keys(purchaseEvents).filter(
  (name): name is PurchaseEvent => name in purchaseEvents,
);
const approval = parseAbiItem(
  "event Approval(address indexed owner, address indexed spender, uint256 value)",
);
/** The largest number of approvals of the buyer that are reported, the newest ones. */
const mostApprovals = 20;

/**
 * Returns a purchase's entries from the chain: the registrar's events about it, and its buyer's approvals since it was
 * created.
 */
export async function chainEntries(
  purchase: PurchaseRecord,
  head: BlockPoint,
  sources: Sources,
): Promise<OrderedEntry[]> {
  const { node, labels } = sources;
  const { own, approvals } = await readLogs(purchase, head, sources);
  const until = paidInFull(own, purchase) ?? BigInt(head.number);
  const newest = approvals.filter(({ blockNumber }) => blockNumber <= until).slice(-mostApprovals);
  const times = await readTimes([...own, ...newest], node);
  const timeOf = ({ blockNumber }: { blockNumber: bigint }) =>
    times.get(blockNumber) ?? toTimestamp(head.timestamp);
  return [
    ...own.flatMap((log) => eventEntries(log, timeOf(log), purchase, sources)),
    ...newest.map((log) =>
      timelineEntry("approved", {
        at: timeOf(log),
        kind: "approved",
        title: "The buyer approved an amount, for all of its purchases.",
        actor: labels.nameOf(purchase.buyer),
        block_number: Number(log.blockNumber),
        transaction_hash: log.transactionHash,
        details: { amount: String(log.args.value ?? 0n) },
      }),
    ),
  ];
}

/** Reads the registrar's logs about a purchase, and the approvals of its buyer since it was created. */
async function readLogs(purchase: PurchaseRecord, head: BlockPoint, { node, services }: Sources) {
  const { registrar, token } = services.deployment;
  const range = {
    fromBlock: await firstBlockSince(purchase.created_at, head, node),
    toBlock: BigInt(head.number),
  };
  const [found, approvals] = await Promise.all([
    node.request({
      method: "eth_getLogs",
      params: [
        {
          address: registrar.address,
          topics: [null, purchase.commitment_hash],
          fromBlock: toHex(range.fromBlock),
          toBlock: toHex(range.toBlock),
        },
      ],
    }),
    node.getLogs({
      address: token.address,
      event: approval,
      args: { owner: purchase.buyer, spender: registrar.address },
      ...range,
    }),
  ]);
  return { own: found.map((log) => formatLog(log)).filter(isMined), approvals };
}

/** The entry of a log of the registrar; none for an event that is not about the purchase's course. */
function eventEntries(log: MinedLog, at: string, purchase: PurchaseRecord, sources: Sources): OrderedEntry[] {
  const decoded = decodeEvent(log);
  if (decoded === null) return [];
  const { step, kind, title, fields } = purchaseEvents[decoded.event];
  return [
    timelineEntry(step, {
      at,
      kind,
      title,
      actor: actorOf(decoded.event, purchase, sources),
      block_number: Number(log.blockNumber),
      transaction_hash: log.transactionHash,
      details: Object.fromEntries(fields.map((name) => [name, String(decoded.fields[name])])),
    }),
  ];
}

/** The block of the payment after which nothing is outstanding: approvals after it are for other purchases. */
function paidInFull(logs: readonly MinedLog[], { amount }: PurchaseRecord): bigint | undefined {
  return logs.find((log) => {
    const decoded = decodeEvent(log);
    return decoded?.event === "PurchasePaid" && decoded.fields["paidTotal"] === amount;
  })?.blockNumber;
}

type MinedLog = Log<bigint, number, false>;

function isMined(log: Log): log is MinedLog {
  return log.blockNumber !== null && log.logIndex !== null && log.transactionHash !== null;
}

function decodeEvent(log: MinedLog): { event: PurchaseEvent; fields: { [name: string]: Json } } | null {
  for (const event of eventNames) {
    const decoded = decodeLog(log, { abi: purchaseRegistrarAbi, event });
    if (decoded !== null) return { event, fields: decoded.fields };
  }
  return null;
}

function actorOf(event: PurchaseEvent, purchase: PurchaseRecord, { labels, services }: Sources): string {
  const program = services.deployment.programs.find(({ id }) => id === purchase.program);
  switch (event) {
    case "PurchasePaid":
      return labels.nameOf(purchase.buyer);
    case "PurchaseClaimed":
      return labels.nameOf(purchase.beneficiary);
    case "PurchaseRegistered":
      return labels.nameOf(purchase.merchant);
    default:
      return program === undefined ? "the operator" : labels.nameOf(program.operator);
  }
}

/** The time of each block that has one of the logs. */
async function readTimes(
  logs: readonly { blockNumber: bigint }[],
  node: PublicClient,
): Promise<Map<bigint, string>> {
  const numbers = [...new Set(logs.map(({ blockNumber }) => blockNumber))];
  const times = await Promise.all(
    numbers.map(async (blockNumber) => {
      const { timestamp } = await node.getBlock({ blockNumber });
      return [blockNumber, toTimestamp(Number(timestamp))] as const;
    }),
  );
  return new Map(times);
}

/** The first block that is not older than a time in Unix seconds: by halving, so that old chains cost little. */
async function firstBlockSince(seconds: number, head: BlockPoint, node: PublicClient): Promise<bigint> {
  let low = 0n;
  let high = BigInt(head.number);
  while (low < high) {
    const middle = (low + high) / 2n;
    const { timestamp } = await node.getBlock({ blockNumber: middle });
    if (timestamp < BigInt(seconds)) low = middle + 1n;
    else high = middle;
  }
  return low;
}
