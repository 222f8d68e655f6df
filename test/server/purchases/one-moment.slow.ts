import { numberToHex } from "viem";
import { afterEach, expect, test } from "vitest";
import { TamperedNode } from "../../../check-contract/fixture/tampered-node.ts";
import type { ChainNode } from "../../../sandbox/chain/start-chain.ts";
import type { Answer, Schema } from "../../kit/answer.ts";
import { resetBeforeEach } from "../../kit/reset-before-each.ts";
import { TestKit } from "../../kit/test-kit.ts";

type Purchase = Schema<"Purchase">;

const award = "10000000";

/** Between service and chain: holds one answer of the node while the chain or the records change. */
const tampered = new TamperedNode();
let kit: TestKit;
let refund: { purchase: Purchase; decision: { id: string } };
/** A request that is under way during the read. */
let waiting: Promise<Answer> | null = null;

resetBeforeEach(async () => {
  const adaptChain = async (chain: ChainNode) => tampered.adapt(chain);
  kit = await TestKit.open({ seed: "one-moment", receiptTimeoutMs: 30_000, adaptChain });
  refund = await kit.approvedPurchase(await kit.fundedMerchant());
  return kit;
});

afterEach(() => tampered.clear());

async function collect(key?: string): Promise<void> {
  const collected = await kit.requestRefund(refund, key);
  expect(collected.status, collected.text).toBe(201);
}

/** Takes the block of the collection, and has the relayer send it again, which is not mined. */
async function removeCollection(): Promise<void> {
  await kit.sandbox.chain.client.setAutomine(false);
  await kit.reorg(1);
}

/** Returns the contradictions in a purchase that `GET …/purchases/{id}` has answered. */
function contradictionsOf({ status, route, figures, refund: shown, receipts, claim }: Purchase): string[] {
  const isCollected = figures.refunded === award;
  const paid = receipts.reduce((sum, { amount }) => sum + BigInt(amount), 0n);
  const rules: [boolean, string][] = [
    [status === "refunded" ? isCollected : true, `${status}, and ${figures.refunded} are refunded`],
    [status === "approved" ? !isCollected : true, `${status}, and ${figures.refunded} are refunded`],
    [(status === "refunded") === (shown?.status === "collected"), `${status}, its refund ${shown?.status}`],
    [(status === "approved") === (shown === null), `${status}, its refund ${shown?.status}`],
    [
      isCollected === ((shown?.transaction_hash ?? null) !== null),
      `${figures.refunded} are refunded by ${shown?.transaction_hash}`,
    ],
    [
      shown === null || (isCollected ? shown.claim_hash === claim?.claim_hash : shown.claim_hash === null),
      `${figures.refunded} are refunded for ${shown?.claim_hash}`,
    ],
    [paid.toString() === figures.paid, `the receipts add up to ${paid}, and ${figures.paid} are paid`],
    [route !== null || figures.paid === "0", `it is not on chain, and ${figures.paid} are paid`],
  ];
  return rules.filter(([holds]) => !holds).map(([, broken]) => broken);
}

/** Waits until the relayer has brought the journal up to the chain. */
async function lookedAt(status: string): Promise<void> {
  const { store } = kit.sandbox;
  const read = async () =>
    (await store.list("operations", { program: kit.program }))
      .map(({ value }) => value)
      .find(({ kind }) => kind === "collect_refund")?.status;
  await expect.poll(read).toBe(status);
}

/** Reads of the state at a block, whose answer no look of the relayer waits for. */
const stateReads = ["eth_call", "eth_getLogs"];
/** Those, and reads of a block by its number: what no other request waits for. */
const ownReads = [...stateReads, "eth_getBlockByNumber 0x"];
const allReads = [
  ...stateReads,
  "eth_getBlockByNumber",
  "eth_getTransactionReceipt",
  "eth_getTransactionByHash",
  "eth_getTransactionCount",
];

/** A purchase before, what changes while an answer of the node is held, and which answers those can be. */
const cases: [name: string, methods: string[], before: () => Promise<void>, change: () => Promise<void>][] = [
  ["a reorg takes the collection", allReads, collect, removeCollection],
  [
    "a reorg takes the collection, and the relayer has looked",
    stateReads,
    collect,
    async () => {
      await removeCollection();
      await lookedAt("broadcast");
    },
  ],
  ["a reorg takes the collection, which is sent again", allReads, collect, async () => await kit.reorg(1)],
  ["the collection is mined again", allReads, removed, async () => await mineCollection()],
  [
    "the collection is mined again, and the relayer has looked",
    stateReads,
    removed,
    async () => {
      await mineCollection();
      await lookedAt("confirmed");
    },
  ],
  [
    "the collection is mined again, and a request waits for it",
    allReads,
    async () => {
      await removed();
      waiting = kit.requestRefund(refund, "waiting-key");
      await expect
        .poll(async () => await kit.sandbox.store.get("idempotency", `${kit.program}\nwaiting-key`))
        .toBeDefined();
    },
    mineCollection,
  ],
  ["the refund is executed", ownReads, async () => {}, collect],
];

async function removed(): Promise<void> {
  await collect();
  await removeCollection();
  await lookedAt("broadcast");
  // The relayer journals that the block is gone before it sends the collection again.
  const waitingInPool = async () => (await kit.sandbox.chain.client.getTxpoolStatus()).pending;
  await expect.poll(waitingInPool).toBe(1);
}

async function mineCollection(): Promise<void> {
  await kit.sandbox.chain.client.mine({ blocks: 1 });
}

test.each(cases)(
  "every answer is of one moment while %s, wherever in it that happens",
  async (_, held, before, change) => {
    const start = await kit.sandbox.snapshot();
    const found: unknown[] = [];
    let number = 0;
    let isHeld: boolean;
    do {
      number += 1;
      await start.restore();
      await kit.renew();
      await before();
      isHeld = await holding(held, number, change, async () => {
        const { status, text } = await kit.get(kit.path(`/purchases/${refund.purchase.id}`));
        const broken = status === 200 ? contradictionsOf(JSON.parse(text)) : text;
        if (broken.length > 0) found.push({ number, broken });
      });
      if (waiting !== null && !isHeld) await change();
      if (waiting !== null) expect((await waiting).status).toBe(201);
      waiting = null;
    } while (isHeld);
    expect(found).toEqual([]);
    // The reads at the head.
    expect(number).toBeGreaterThan(3);
  },
);

/**
 * Reads while the node's answer with this number, counted from 1, is held for a change.
 *
 * @param held - the methods, with the beginning of the first parameter where that matters.
 * @returns whether there was such an answer.
 */
async function holding(
  held: readonly string[],
  number: number,
  change: () => Promise<void>,
  read: () => Promise<void>,
): Promise<boolean> {
  // Requests share the check that it is the same chain.
  const identityRead = `eth_getBlockByNumber ${numberToHex(kit.sandbox.chain.deployment.epochBlock.number)}`;
  let answers = 0;
  for (const method of new Set(held.map((one) => one.split(" ")[0] ?? one)))
    tampered.change(method, async (answer, parameters) => {
      const asked = `${method} ${Array.isArray(parameters) ? parameters[0] : ""}`;
      if (asked === identityRead || !held.some((one) => asked.startsWith(one))) return answer;
      answers += 1;
      if (answers === number) await change();
      return answer;
    });
  await read();
  tampered.clear();
  return answers >= number;
}
