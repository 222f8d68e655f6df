import { formatLog, type Log, parseAbiItem, toHex } from "viem";
import { purchaseRegistrarAbi } from "../../../../protocol/abi.generated.ts";
import { decodeLog } from "../../../../protocol/binding/match-log.ts";
import type { Json } from "../../../../protocol/json.ts";
import { toTimestamp } from "../../../../protocol/time.ts";
import type { PurchaseRecord } from "../../../../server/store/records.ts";
import type { Head } from "../read-at-head.ts";
import type { ShownMoment } from "../shown.ts";
import type { BatchingNode, Sources } from "../sources.ts";
import { moment, type Stage, type StagedMoment } from "./moment.ts";

/** The registrar's events about one purchase, with what each means and which of its fields are told. */
const told = {
  PurchaseOffered: {
    stage: "on chain",
    kind: "on_chain",
    title: "The registrar offered it on chain.",
    fields: [],
  },
  PurchaseRegistered: {
    stage: "on chain",
    kind: "on_chain",
    title: "The merchant registered it on chain.",
    fields: [],
  },
  PurchasePaid: {
    stage: "paid",
    kind: "paid",
    title: "The buyer paid on chain.",
    fields: ["amount", "paidTotal"],
  },
  PurchaseClaimed: {
    stage: "claimed on chain",
    kind: "claimed",
    title: "The beneficiary claimed on chain.",
    fields: ["claimHash"],
  },
  RefundCollected: {
    stage: "collected on chain",
    kind: "refunded",
    title: "The award moved on chain.",
    fields: ["award"],
  },
  OfferWithdrawn: {
    stage: "ended on chain",
    kind: "on_chain",
    title: "The offer was withdrawn on chain.",
    fields: ["released"],
  },
  PurchaseExpired: {
    stage: "ended on chain",
    kind: "on_chain",
    title: "It expired on chain.",
    fields: ["released"],
  },
} as const satisfies {
  [event: string]: { stage: Stage; kind: ShownMoment["kind"]; title: string; fields: readonly string[] };
};

type ToldEvent = keyof typeof told;
const toldEvents = Object.keys(told).filter((name): name is ToldEvent => name in told);
const approval = parseAbiItem(
  "event Approval(address indexed owner, address indexed spender, uint256 value)",
);
/** How many approvals of the buyer are told at most, the newest ones. */
const mostApprovals = 20;

/** What the chain holds of a purchase: the registrar's events about it, and what its buyer approved since it was created. */
export async function chainMoments(
  purchase: PurchaseRecord,
  head: Head,
  sources: Sources,
): Promise<StagedMoment[]> {
  const { node, people, services } = sources;
  const { registrar, token } = services.deployment;
  const fromBlock = await firstBlockSince(purchase.created_at, head, node);
  const range = { fromBlock, toBlock: BigInt(head.number) };
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
  const own = found.map((log) => formatLog(log)).filter(isMined);
  const until = paidInFull(own, purchase) ?? range.toBlock;
  const newest = approvals.filter(({ blockNumber }) => blockNumber <= until).slice(-mostApprovals);
  const times = await readTimes([...own, ...newest], node);
  return [
    ...own.flatMap((log) => {
      const decoded = decodeEvent(log);
      if (decoded === null) return [];
      const { stage, kind, title, fields } = told[decoded.event];
      return [
        moment(stage, {
          at: times.get(log.blockNumber) ?? head.at,
          kind,
          title,
          actor: actorOf(decoded.event, purchase, sources),
          block_number: Number(log.blockNumber),
          transaction_hash: log.transactionHash,
          details: Object.fromEntries(fields.map((name) => [name, String(decoded.fields[name])])),
        }),
      ];
    }),
    ...newest.map(({ args, blockNumber, transactionHash }) =>
      moment("approved", {
        at: times.get(blockNumber) ?? head.at,
        kind: "approved",
        title: "The buyer approved an amount, for all of its purchases.",
        actor: people.name(purchase.buyer),
        block_number: Number(blockNumber),
        transaction_hash: transactionHash,
        details: { amount: String(args.value ?? 0n) },
      }),
    ),
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

function decodeEvent(log: MinedLog): { event: ToldEvent; fields: { [name: string]: Json } } | null {
  for (const event of toldEvents) {
    const decoded = decodeLog(log, { abi: purchaseRegistrarAbi, event });
    if (decoded !== null) return { event, fields: decoded.fields };
  }
  return null;
}

function actorOf(event: ToldEvent, purchase: PurchaseRecord, { people, services }: Sources): string {
  const program = services.deployment.programs.find(({ id }) => id === purchase.program);
  switch (event) {
    case "PurchasePaid":
      return people.name(purchase.buyer);
    case "PurchaseClaimed":
      return people.name(purchase.beneficiary);
    case "PurchaseRegistered":
      return people.name(purchase.merchant);
    default:
      return program === undefined ? "the registrar" : people.name(program.registrar);
  }
}

/** The time of each block that has one of the logs. */
async function readTimes(
  logs: readonly { blockNumber: bigint }[],
  node: BatchingNode,
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
async function firstBlockSince(seconds: number, head: Head, node: BatchingNode): Promise<bigint> {
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
