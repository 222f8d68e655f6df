import { beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { testUsdcAbi } from "../../../protocol/abi.generated.ts";
import { checkNames } from "../../../protocol/binding/check-binding.ts";
import { ChangeFeed } from "../../../sandbox/activity/change-feed.ts";
import { RefusalLog } from "../../../sandbox/activity/refusal-log.ts";
import type { Sandbox } from "../../../sandbox/create-sandbox.ts";
import type {
  BlockView,
  EventView,
  MerchantView,
  Overview,
  PurchaseTimeline,
  PurchaseViews,
  RefusalView,
  RelayOperationView,
  SearchResult,
} from "../../../sandbox/explorer/views.ts";
import { merchantStates, purchaseStates } from "../../../sandbox/given/states.ts";
import type { ViewPage } from "../../../sandbox/lib/page.ts";
import { actorsOf } from "../../../testkit/demo/actors.ts";
import { silentPrinter } from "../../../testkit/demo/printer.ts";
import { runDemo } from "../../../testkit/demo/run-demo.ts";
import { Session } from "../../../testkit/demo/session.ts";
import { enrollMerchant } from "../../../testkit/demo/show-merchant.ts";
import { demoSteps } from "../../../testkit/demo/show-purchase.ts";
import { freshSandbox } from "../../kit/fresh-sandbox.ts";

let sandbox: Sandbox;

beforeAll(async () => {
  sandbox = await freshSandbox();
  await runDemo(sandbox.description, silentPrinter);
});

async function read<T>(path: string): Promise<T> {
  const response = await fetch(`${sandbox.description.urls.control}/explorer${path}`);
  const body = await response.json();
  if (!response.ok) throw new Error(`${response.status} ${JSON.stringify(body)}`);
  return body as T;
}

/** The three purchases of the demo, the oldest first: refunded, paid directly, and refused. */
async function purchases() {
  const { data } = await read<PurchaseViews>("/purchases");
  const [refused, direct, refunded] = data;
  if (!refused || !direct || !refunded) throw new Error("The demo makes three purchases.");
  return { refused, direct, refunded };
}

test("the overview has the block, clock, budgets, faults and pending transactions", async () => {
  const overview = await read<Overview>("/overview");
  const block = await sandbox.chain.client.getBlock();
  expect(overview).toMatchObject({
    mode: "deterministic",
    block: { number: Number(block.number), hash: block.hash },
    chain: sandbox.description.chain,
    unsettled: [],
    pending_transactions: 0,
    own_chain: true,
    network: null,
    faults: [],
    refusals: 1,
  });
  expect(overview.now).toBe(overview.block.at);
  const [demo] = overview.programs;
  expect(demo?.gas_budget).toEqual(await sandbox.relayer.budget("prg_demo"));
  expect(overview.fault_choices.matrix["relayer"]?.["drop"]).toEqual(["broadcast"]);
});

test("purchases have their money as the chain holds it at one block", async () => {
  const { refused, direct, refunded } = await purchases();
  expect(refunded).toMatchObject({
    status: "refunded",
    route: "registrar_offer",
    buyer: { name: "buyer" },
    figures: { amount: "25000000", paid: "25000000", reconciled: "25000000", refunded: "12000000" },
  });
  expect(direct).toMatchObject({ route: "merchant_direct", figures: { paid: "40000000", refunded: "0" } });
  expect(refused).toMatchObject({ status: "active", figures: { paid: "0", reconciled: "0" } });
});

test("purchases are found by state, id, hash, address and reference", async () => {
  const { refused, direct, refunded } = await purchases();
  const ids = async (query: string) =>
    (await read<PurchaseViews>(`/purchases?${query}`)).data.map(({ id }) => id);
  expect(await ids("status=refunded")).toEqual([refunded.id]);
  expect(await ids(`q=${direct.commitment_hash}`)).toEqual([direct.id]);
  expect(await ids(`q=${refused.id.slice(0, 12)}`)).toEqual([refused.id]);
  expect(await ids(`q=${refused.buyer.address.toLowerCase()}`)).toHaveLength(3);
  const stored = await sandbox.store.get("purchases", direct.id);
  const [payment] = stored?.value.receipts ?? [];
  expect(await ids(`q=${payment?.transaction_hash}`)).toEqual([direct.id]);
  expect(await ids("program=prg_other")).toEqual([]);
  await expect(ids("status=paid")).rejects.toThrow("422");
  await expect(ids("color=red")).rejects.toThrow("422");
});

test("lists are read oldest first, and merchants and refusals are found by their fields", async () => {
  for (const list of ["purchases", "merchants", "operations", "events", "refusals"]) {
    const newest = await read<ViewPage<unknown>>(`/${list}`);
    const oldest = await read<ViewPage<unknown>>(`/${list}?order=oldest`);
    expect(oldest.data, list).toEqual(newest.data.toReversed());
  }
  const found = async (query: string) => (await read<ViewPage<MerchantView>>(`/merchants?${query}`)).data;
  expect(await found("q=corner")).toMatchObject([{ name: "Corner Books" }]);
  expect(await found("q=absent")).toEqual([]);
  await expect(found("order=random")).rejects.toThrow("422");
});

test("a list has as many items as its limit, and continues after them", async () => {
  for (const list of ["purchases", "merchants", "operations", "events", "refusals", "blocks"]) {
    const { data } = await read<ViewPage<unknown>>(`/${list}`);
    const first = await read<ViewPage<unknown>>(`/${list}?limit=1`);
    expect(first.data, list).toEqual(data.slice(0, 1));
    if (first.next_cursor === null) continue;
    const second = await read<ViewPage<unknown>>(`/${list}?limit=1&cursor=${first.next_cursor}`);
    expect(second.data, list).toEqual(data.slice(1, 2));
  }
  for (const limit of ["0", "51", "few"])
    await expect(read(`/purchases?limit=${limit}`)).rejects.toThrow("422");
});

describe("a purchase's timeline", () => {
  test("is complete from creation to refund, in order, with blocks, hashes and actors", async () => {
    const { refunded } = await purchases();
    const timeline = await read<PurchaseTimeline>(`/purchases/${refunded.id}`);
    expect(timeline.entries.map(({ kind, actor }) => `${kind} by ${actor}`)).toEqual([
      "created by the service",
      "signed by commitment signer of prg_demo",
      "event by the service",
      ...Array(3).fill("relayed by operator of prg_demo"),
      "on_chain by operator of prg_demo",
      "relayed by operator of prg_demo",
      "event by the service",
      "approved by buyer",
      "paid by buyer",
      "paid by buyer",
      "reconciled by the service",
      "reconciled by the service",
      "event by the service",
      "claimed by beneficiary",
      "claimed by beneficiary",
      "event by the service",
      `decided by reviewer ${sandbox.description.reviewer.key_id}`,
      "event by the service",
      "refunded by the service",
      "event by the service",
      ...Array(3).fill("relayed by operator of prg_demo"),
      "refunded by operator of prg_demo",
      "relayed by operator of prg_demo",
      "refunded by the service",
      "event by the service",
      `delivery by ${sandbox.description.receiver.url}`,
    ]);
    for (const { kind, block_number, transaction_hash } of timeline.entries) {
      if (block_number === null || transaction_hash === null) continue;
      const receipt = await sandbox.chain.client.getTransactionReceipt({
        hash: `0x${transaction_hash.slice(2)}`,
      });
      expect([kind, Number(receipt.blockNumber)]).toEqual([kind, block_number]);
    }
    expect(timeline.operations.map(({ kind, status }) => [kind, status])).toEqual([
      ["offer", "confirmed"],
      ["collect_refund", "confirmed"],
    ]);
    expect(timeline.purchase.merchant_name).toBe("Corner Books");
  });

  test("has the refusals with every check", async () => {
    const { refused } = await purchases();
    const { entries } = await read<PurchaseTimeline>(`/purchases/${refused.id}`);
    const last = entries.at(-1);
    expect(last).toMatchObject({
      kind: "refused",
      title: expect.stringMatching(
        /^A payment was refused: it was sent by 0x\w+; the bound wallet is 0x\w+\.$/,
      ),
    });
    expect(last?.checks).toHaveLength(checkNames.length);
  });

  test("is 404 for an unknown purchase", async () => {
    await expect(read("/purchases/pur_none")).rejects.toThrow("404");
  });
});

test("refusals have the step, the hash, both sides of every check, and where they are explained", async () => {
  const { refused } = await purchases();
  const { data } = await read<ViewPage<RefusalView>>("/refusals");
  const [refusal] = data;
  expect(data).toHaveLength(1);
  expect(refusal).toMatchObject({
    operation: "reconcilePurchase",
    step: "payment",
    subject: refused.id,
    code: "binding_mismatch",
    times: 1,
  });
  const { buyer, stranger } = sandbox.description.wallets;
  expect(refusal?.checks.find(({ name }) => name === "wallet")).toEqual({
    name: "wallet",
    ok: false,
    expected: buyer?.address,
    actual: stranger?.address,
  });
  const explained = await fetch(refusal?.explain ?? "");
  expect(await explained.json()).toMatchObject({ accepted: false, call: { function: "pay" } });
});

test("a transaction that is only unconfirmed is not listed as refused", async () => {
  const snapshot = await sandbox.snapshot();
  const session = await Session.open(actorsOf(sandbox.description), silentPrinter);
  const merchant = await enrollMerchant(session);
  const purchase = await demoSteps.createPurchase(session, merchant, "unconfirmed", "1000000");
  await sandbox.chain.client.setAutomine(false);
  const transaction_hash = await sandbox.wallets.merchant.submit({
    to: sandbox.description.contracts.registrar,
    data: "0x",
  });
  const { error } = await session.api.POST("/v1/routing/programs/{program}/purchases/{id}/registration", {
    params: session.write("pending", purchase.id),
    body: { transaction_hash },
  });
  expect(error).toMatchObject({ status: 409, code: "transaction_unconfirmed" });
  expect(await read<ViewPage<RefusalView>>(`/refusals?q=${purchase.id}`)).toMatchObject({ data: [] });
  await snapshot.restore();
});

test("repeated refusals are listed once, with their count", async () => {
  const snapshot = await sandbox.snapshot();
  const actors = actorsOf(sandbox.description);
  const session = await Session.open(actors, silentPrinter);
  const purchase = await demoSteps.createPurchase(session, await enrollMerchant(session), "again", "1000000");
  const hash = `0x${"ab".repeat(32)}` as const;
  for (const intent of ["first", "second"]) {
    const { error } = await session.api.POST("/v1/routing/programs/{program}/purchases/{id}/registration", {
      params: session.write(intent, purchase.id),
      body: { transaction_hash: hash },
    });
    expect(error?.code).toBe("transaction_not_found");
  }
  const { data } = await read<ViewPage<RefusalView>>(`/refusals?q=${purchase.id}`);
  expect(data).toMatchObject([{ code: "transaction_not_found", times: 2, transaction_hash: hash }]);
  await snapshot.restore();
});

test("snapshots are taken and restored over the control API, and a restore removes later snapshots", async () => {
  const { control } = sandbox.description.urls;
  const post = async (path: string) => await fetch(`${control}${path}`, { method: "POST" });
  const snapshot = z.object({ number: z.int(), now: z.int() });
  const before = await sandbox.fingerprint();
  const first = snapshot.parse(await (await post("/snapshots")).json());
  await sandbox.clock.travel({ days: 1 });
  const second = snapshot.parse(await (await post("/snapshots")).json());
  expect(second.number).toBe(first.number + 1);
  expect((await post(`/snapshots/${first.number}/restore`)).status).toBe(200);
  expect(await sandbox.fingerprint()).toEqual(before);
  expect((await post(`/snapshots/${second.number}/restore`)).status).toBe(404);
  const now = await sandbox.clock.now();
  const { data } = z
    .object({ data: z.array(snapshot) })
    .parse(await (await fetch(`${control}/snapshots`)).json());
  expect(data.filter(({ number }) => number >= first.number)).toEqual([{ number: first.number, now }]);
});

test("the control API keeps the 20 newest snapshots", async () => {
  const { control } = sandbox.description.urls;
  const listed = z.object({ data: z.array(z.object({ number: z.int() })) });
  const numbers = async (response: Response) =>
    listed.parse(await response.json()).data.map(({ number }) => number);
  const restore = async (number: number) =>
    await fetch(`${control}/snapshots/${number}/restore`, { method: "POST" });
  for (let taken = 1; taken <= 21; taken += 1) await fetch(`${control}/snapshots`, { method: "POST" });
  const kept = await numbers(await fetch(`${control}/snapshots`));
  const [oldest = 0, second = 0] = kept;
  expect(kept).toEqual(Array.from({ length: 20 }, (_, index) => oldest + index));
  expect((await restore(oldest - 1)).status).toBe(404);
  expect(await numbers(await restore(second))).toEqual([oldest, second]);
});

test("the explorer keeps the last 500 refusals, and counts one that is repeated", () => {
  const log = new RefusalLog(new ChangeFeed());
  const refuse = (index: number) =>
    log.record({
      at: 1_767_225_600,
      request_id: `req_${index}`,
      operation: "reconcilePurchase",
      program: "prg_demo",
      subject: `pur_${index}`,
      step: "payment",
      code: "binding_mismatch",
      detail: "The transaction is not a payment.",
      transaction_hash: "0x12",
      is_used: false,
      checks: [],
    });
  for (let index = 1; index <= 501; index += 1) refuse(index);
  refuse(501);
  const kept = log.newest();
  expect(kept.map(({ number }) => number)).toEqual(Array.from({ length: 500 }, (_, index) => 501 - index));
  expect(kept[0]).toMatchObject({ subject: "pur_501", times: 2 });
  expect(kept[1]).toMatchObject({ subject: "pur_500", times: 1 });
});

test("operations have every transaction that was signed for them", async () => {
  const { refunded } = await purchases();
  const { data } = await read<ViewPage<RelayOperationView>>(`/operations?status=confirmed`);
  expect(data.map(({ kind }) => kind)).toEqual(["offer", "collect_refund", "offer"]);
  expect(data[1]).toMatchObject({
    purchase_id: refunded.id,
    merchant_name: "Corner Books",
    reference: refunded.reference,
    from: { name: "operator of prg_demo" },
  });
  expect(data[1]?.transactions).toMatchObject([
    { hash: data[1]?.hash, purpose: "original", outcome: "succeeded" },
  ]);
});

test("events have their attempts, their receipt and what arrived", async () => {
  const { data } = await read<ViewPage<EventView>>("/events?status=delivered");
  expect(data).toMatchObject([
    {
      type: "refund.collected",
      attempts: [{ number: 1, ended: true, status_code: 200 }],
      arrivals: [{ number: 1, verified: true, status: 200 }],
      receipt_id: expect.stringMatching(/^rcp_/),
    },
  ]);
  const all = await read<ViewPage<EventView>>("/events");
  expect(all.data.map(({ sequence }) => sequence)).toEqual([14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1]);
  // The first event is about the merchant, the others about its purchases.
  expect(new Set(all.data.map(({ merchant_name }) => merchant_name))).toEqual(new Set(["Corner Books"]));
});

test("blocks list their transactions with function, accounts and purchases", async () => {
  const { refused, refunded } = await purchases();
  const { data, next_cursor } = await read<ViewPage<BlockView>>("/blocks");
  const done = data.flatMap(({ transactions }) => transactions);
  expect(next_cursor).toBeNull();
  expect(done[0]).toMatchObject({
    from: { name: "stranger" },
    to: { name: "the registrar contract" },
    function: "pay",
    about: [refused.id],
    succeeded: false,
  });
  const offers = done.filter(({ function: called }) => called === "offer");
  expect(offers.map(({ about }) => about)).toEqual([[refused.id], [refunded.id]]);
});

test("blocks are found by number, by hash and by transaction, and those without transactions can be left out", async () => {
  const all = await read<ViewPage<BlockView>>("/blocks");
  const busy = all.data.filter(({ transactions }) => transactions.length > 0);
  expect(busy.length).toBeLessThan(all.data.length);
  expect((await read<ViewPage<BlockView>>("/blocks?has=transactions")).data).toEqual(busy);
  const [block] = busy;
  for (const q of [
    block?.number,
    block?.hash,
    block?.transactions[0]?.hash.toUpperCase().replace("0X", "0x"),
  ])
    expect(await read(`/blocks?q=${q}`), String(q)).toEqual({ data: [block], next_cursor: null });
  for (const q of ["999999", `0x${"12".repeat(32)}`, "pay"])
    expect(await read(`/blocks?q=${q}`), q).toEqual({ data: [], next_cursor: null });
  const { data } = await read<{ data: SearchResult[] }>(`/search?q=${block?.hash}`);
  expect(data).toMatchObject([{ type: "block", id: String(block?.number) }]);
});

test("merchants have their funding, with the wallet's allowance and balance", async () => {
  const { client, deployment } = sandbox.chain;
  const token = { address: deployment.token.address, abi: testUsdcAbi } as const;
  const args = [sandbox.wallets.merchant.address] as const;
  const balance = String(await client.readContract({ ...token, functionName: "balanceOf", args }));
  const { data } = await read<ViewPage<MerchantView>>("/merchants");
  expect(data).toMatchObject([
    {
      name: "Corner Books",
      status: "enrolled",
      funding: { cap: "500000000", collected: "12000000", allowance: "488000000", balance, revoked_at: null },
    },
  ]);
});

test("search finds ids, hashes, addresses and blocks", async () => {
  const { refunded } = await purchases();
  const find = async (q: string) => (await read<{ data: SearchResult[] }>(`/search?q=${q}`)).data;
  const timeline = await read<PurchaseTimeline>(`/purchases/${refunded.id}`);
  const [offer, collection] = timeline.operations;
  const transaction = { type: "transaction", purchase_id: refunded.id };
  expect(await find(refunded.id)).toMatchObject([{ type: "purchase", id: refunded.id }]);
  expect(await find(refunded.commitment_hash)).toMatchObject([{ type: "purchase", id: refunded.id }]);
  expect(await find(offer?.hash ?? "")).toMatchObject([transaction, { type: "operation", id: offer?.id }]);
  const relayed = { type: "operation", id: collection?.id, purchase_id: refunded.id };
  expect(await find(collection?.id ?? "")).toMatchObject([relayed]);
  expect(await find(collection?.hash ?? "")).toMatchObject([transaction, relayed]);
  const paid = timeline.entries.find(({ kind }) => kind === "paid");
  expect(await find(paid?.transaction_hash ?? "")).toMatchObject([transaction]);
  expect(await find(refunded.buyer.address.toLowerCase())).toMatchObject([
    { type: "account", title: "buyer" },
  ]);
  expect(await find("0")).toMatchObject([{ type: "block", title: "Block 0 with 0 transactions" }]);
  expect(await find("nothing")).toEqual([]);
});

test("search finds the states that can be created, and the explanation of a transaction", async () => {
  const find = async (q: string) =>
    (await read<{ data: SearchResult[] }>(`/search?q=${encodeURIComponent(q)}`)).data;
  const idsOf = async (q: string) => (await find(q)).map(({ id }) => id);
  expect(await find("given paid")).toEqual([
    { type: "given", id: "purchase paid", title: "Create a purchase in the state paid", purchase_id: null },
  ]);
  expect(await idsOf(" given  purchase re ")).toEqual([
    "purchase reconciled",
    "purchase refund_due",
    "purchase refunded",
  ]);
  expect(await idsOf("given")).toEqual(purchaseStates.map((state) => `purchase ${state}`));
  expect(await idsOf("given merchant")).toEqual(merchantStates.map((state) => `merchant ${state}`));
  expect(await idsOf("given sold")).toEqual([]);
  expect(await idsOf(" Given MERCHANT Funded")).toEqual(["merchant funded"]);
  const absent = `0x${"12".repeat(32)}`;
  expect(await find(`explain ${absent}`)).toMatchObject([{ type: "transaction", id: absent }]);
  const { refunded } = await purchases();
  expect(await find(`explain ${refunded.id}`)).toMatchObject([{ type: "purchase", id: refunded.id }]);
  expect(await find("explain")).toEqual([]);
});

test("a list is read fifty at a time, the newest first", async () => {
  const snapshot = await sandbox.snapshot();
  const actors = actorsOf(sandbox.description);
  const session = await Session.open(actors, silentPrinter);
  const merchant = await enrollMerchant(session);
  const numbers = Array.from({ length: 51 }, (_, index) => index);
  await Promise.all(
    numbers.map(
      async (number) => await demoSteps.createPurchase(session, merchant, `many-${number}`, "1000000"),
    ),
  );
  const first = await read<PurchaseViews>("/purchases");
  expect(first.data).toHaveLength(50);
  const second = await read<PurchaseViews>(`/purchases?cursor=${first.next_cursor}`);
  expect([second.data.length, second.next_cursor]).toEqual([4, null]);
  const ids = [...first.data, ...second.data].map(({ id }) => id);
  expect(new Set(ids).size).toBe(54);
  const blocks = await read<ViewPage<BlockView>>("/blocks");
  expect(blocks.data.length).toBeLessThanOrEqual(50);
  await snapshot.restore();
  await expect(read(`/purchases?cursor=${first.next_cursor}`)).rejects.toThrow(
    "Read the list again from its start",
  );
});

test("what is read while the sandbox is restored is one state, before or after the restore", async () => {
  const { wallets, description, given } = sandbox;
  const { purchase } = await given.purchase({ state: "active" });
  const snapshot = await sandbox.snapshot();
  const paths = [
    `/explorer/purchases/${purchase.id}`,
    "/explorer/purchases",
    "/explorer/merchants",
    "/explorer/blocks",
    "/explorer/overview",
    "/status",
  ];
  for (let restores = 0; restores < 4; restores += 1) {
    await wallets.buyer.approve(purchase, 1n);
    await sandbox.chain.client.mine({ blocks: 3 });
    const reading = paths.map(async (path) => {
      const answer = await fetch(`${description.urls.control}${path}`);
      return { path, status: answer.status, problem: answer.ok ? "" : await answer.text() };
    });
    await snapshot.restore();
    const answers = await Promise.all(reading);
    expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
  }
});
