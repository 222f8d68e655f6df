import { encodeFunctionData, getAbiItem, type Hex, keccak256, toFunctionSelector } from "viem";
import { afterEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { TamperedNode } from "../../../check-contract/fixture/tampered-node.ts";
import { purchaseRegistrarAbi } from "../../../protocol/abi.generated.ts";
import { approveCall, registerCall } from "../../../protocol/call.ts";
import { hashId } from "../../../protocol/values/id.ts";
import type { RelayOperationKind } from "../../../relayer/relayer.ts";
import type { ChainNode } from "../../../sandbox/chain/start-chain.ts";
import { catchUp } from "../../../sandbox/service/catch-up.ts";
import { readCommitment } from "../../../sandbox/wallets/read-commitment.ts";
import { type Answer, present, problem, type Schema } from "../../kit/answer.ts";
import { resetBeforeEach } from "../../kit/reset-before-each.ts";
import { TestKit } from "../../kit/test-kit.ts";
import { temporaryFolder } from "../../temporary-folder.ts";

let kit: TestKit;
let merchant: Schema<"Merchant">;

const cap = 1_000_000_000_000n;

/** Between the service and the chain, so that a test can make a block between two reads of one request. */
const tampered = new TamperedNode();
afterEach(() => tampered.clear());

resetBeforeEach(async () => {
  const adaptChain = async (chain: ChainNode) => tampered.adapt(chain);
  kit = await TestKit.open({ seed: "reorgs", receiptTimeoutMs: 30_000, adaptChain });
  merchant = await kit.fundedMerchant();
  return kit;
});

/** A relayed effect on a purchase, and what makes it impossible and possible. */
interface Effect {
  purchase: string;
  success: number;
  event: string;
  /** The event of the purchase on chain. */
  log: "PurchaseOffered" | "RefundCollected";
  ask: (key?: string) => Promise<Answer>;
  /** Who makes it revert, and by which call. */
  wallet: string;
  prevent: Call;
  allow: Call;
}

interface Call {
  to: Hex;
  data: Hex;
}

function approval(allowance: bigint): Call {
  const { token, fundingSource } = kit.sandbox.chain.deployment;
  return approveCall(token.address, fundingSource.address, allowance);
}

function pause(paused: boolean): Call {
  const args = [hashId(kit.program), paused] as const;
  const data = encodeFunctionData({ abi: purchaseRegistrarAbi, functionName: "setPaused", args });
  return { to: kit.sandbox.chain.deployment.registrar.address, data };
}

const prepare: { readonly [K in RelayOperationKind]: () => Promise<Effect> } = {
  async offer() {
    const { id, commitment } = await kit.createPurchase(merchant);
    const ask = async (key = kit.key()) =>
      await kit.post(
        kit.path(`/purchases/${id}/activate`),
        { commitment_hash: commitment.hash },
        { "Idempotency-Key": key },
      );
    const made = { success: 200, event: "purchase.activated", log: "PurchaseOffered" } as const;
    return { ...made, purchase: id, ask, wallet: "deployer", prevent: pause(true), allow: pause(false) };
  },
  async collect_refund() {
    const { purchase, decision } = await kit.approvedPurchase(merchant);
    const { id } = purchase;
    const ask = async (key = kit.key()) =>
      await kit.post(
        kit.path(`/purchases/${id}/refunds`),
        { decision_id: decision.id },
        { "Idempotency-Key": key },
      );
    const made = { success: 201, event: "refund.collected", log: "RefundCollected" } as const;
    return { ...made, purchase: id, ask, wallet: "merchant", prevent: approval(0n), allow: approval(cap) };
  },
};

async function read({ purchase }: Pick<Effect, "purchase">): Promise<Schema<"Purchase">> {
  return present(
    await kit.api.GET("/v1/routing/programs/{program}/purchases/{id}", {
      params: { path: { program: kit.program, id: purchase } },
    }),
  );
}

/** The selector of the call that reads by which route a purchase has come on chain. */
const readsPurchase = toFunctionSelector(getAbiItem({ abi: purchaseRegistrarAbi, name: "purchase" }));

/** Asks for an effect, and waits until the request has found it undone and waits for its transaction. */
async function beginAsking({ ask }: Effect, key: string): Promise<{ answer: Promise<Answer> }> {
  const answer = ask(key);
  await expect
    .poll(async () => (await kit.sandbox.store.get("idempotency", `${kit.program}\n${key}`))?.value)
    .toMatchObject({ state: "in_progress" });
  return { answer };
}

/** The newest relay operation of the program. */
async function operation() {
  return (await kit.relayOperations()).at(-1);
}

async function logsOf({ purchase, log }: Effect): Promise<Hex[]> {
  const { client, deployment } = kit.sandbox.chain;
  const { hash } = (await read({ purchase })).commitment;
  const logs = await client.getContractEvents({
    address: deployment.registrar.address,
    abi: purchaseRegistrarAbi,
    eventName: log,
    fromBlock: 0n,
  });
  return logs.filter(({ args }) => args.id === hash).map(({ transactionHash }) => transactionHash);
}

async function eventsOf({ purchase, event }: Pick<Effect, "purchase" | "event">) {
  const events = await kit.sandbox.store.list("events", { subject: purchase });
  return events.filter(({ value }) => value.type === event).map(({ value }) => JSON.parse(value.body).data);
}

/** Does an effect, then has a reorg put what makes it revert in front of its transaction. */
async function undo(effect: Effect, key: string): Promise<void> {
  const done = await effect.ask(key);
  expect(done.status, done.text).toBe(effect.success);
  await kit.reorg(1, [[await kit.sign(effect.wallet, effect.prevent), 0]]);
  await expect.poll(async () => (await operation())?.status).toBe("reverted");
}

async function allowAgain({ wallet, allow }: Effect): Promise<void> {
  expect((await kit.wallet(wallet).send(allow)).receipt.status).toBe("success");
}

/** The state of a purchase after the relayed transaction was undone, and the refusal of the next request. */
const undone = {
  offer: {
    state: { status: "created", route: null },
    refused: {
      code: "registrar_bound_exceeded",
      detail:
        "The program does not allow this offer of 25000000: the program is paused, which the direct route does not avoid.",
    },
    done: { status: "active", route: "registrar_offer" },
  },
  collect_refund: {
    state: {
      status: "refund_due",
      route: "registrar_offer",
      refund: { status: "due", transaction_hash: null, collected_at: null },
    },
    refused: {
      code: "funding_source_insufficient",
      detail: "The award is 10000000; the merchant's allowance to the funding source is 0.",
    },
    done: { status: "refunded", route: "registrar_offer" },
  },
} as const;

describe.each(["offer", "collect_refund"] as const)("after a reorg in which the %s reverts", (kind) => {
  test("the purchase is as before it, and a new key repeats it exactly once when it would succeed", async () => {
    const effect = await prepare[kind]();
    await undo(effect, "first-key");
    expect(await read(effect)).toMatchObject(undone[kind].state);
    expect(await logsOf(effect)).toEqual([]);
    const refused = await effect.ask();
    expect(refused.status, refused.text).toBe(409);
    expect(problem(refused)).toMatchObject(undone[kind].refused);

    await allowAgain(effect);
    const answers = await Promise.all([effect.ask("second-key"), effect.ask("third-key")]);
    expect(answers.map(({ status }) => status).sort()).toEqual([effect.success, 409]);
    const relayed = await operation();
    expect(relayed).toMatchObject({
      attempt: 2,
      status: "confirmed",
      hashes: [
        { attempt: 1, outcome: "reverted" },
        { attempt: 2, outcome: "succeeded" },
      ],
    });
    expect(await logsOf(effect)).toEqual([relayed?.hash]);
    expect(await read(effect)).toMatchObject(undone[kind].done);
    expect((await eventsOf(effect)).map(({ transaction_hash }) => transaction_hash)).toEqual(
      relayed?.hashes.map(({ hash }) => hash),
    );
  });

  test("the key that was answered before it replays its answer", async () => {
    const effect = await prepare[kind]();
    const done = await effect.ask("first-key");
    await kit.reorg(1, [[await kit.sign(effect.wallet, effect.prevent), 0]]);
    await expect.poll(async () => (await operation())?.status).toBe("reverted");
    const again = await effect.ask("first-key");
    expect(again).toMatchObject({ status: effect.success, text: done.text });
    expect(again.headers["idempotent-replayed"]).toBe("true");
  });

  test("the explorer's list and timeline say so too", async () => {
    const effect = await prepare[kind]();
    await undo(effect, "first-key");
    const { status } = undone[kind].state;
    const { control } = kit.sandbox.description.urls;
    const list = await (await fetch(`${control}/explorer/purchases?status=${status}`)).json();
    expect(list).toMatchObject({ data: [{ id: effect.purchase, status }] });
    const timeline = await (await fetch(`${control}/explorer/purchases/${effect.purchase}`)).json();
    expect(timeline).toMatchObject({ purchase: { status } });
  });
});

describe.each(["offer", "collect_refund"] as const)(
  "after a reorg that takes the block of the %s",
  (kind) => {
    test("answers 503 while the node does not say what became of the transaction, and then as the chain has it", async () => {
      const effect = await prepare[kind]();
      expect((await effect.ask()).status).toBe(effect.success);
      const { relayer, faults, chain } = kit.sandbox;
      await faults.set({ layer: "relayer", point: "receipt", action: "rpc_error", count: null });
      await kit.reorg(1);
      const path = kit.path(`/purchases/${effect.purchase}`);
      const wallet = `/wallet/${kit.program}/purchase/${effect.purchase}`;
      const list = kit.path("/transactions");
      for (const ask of [path, wallet, list, `${list}?status=failed`]) {
        const answer = await kit.get(ask);
        expect(answer.status, `${ask} ${answer.text}`).toBe(503);
        expect(problem(answer)).toMatchObject({ code: "rpc_unavailable", retryable: true });
        expect(problem(answer).detail).toContain("a reorg took its block");
      }
      const asked = await effect.ask();
      expect(asked.status, asked.text).toBe(503);
      expect(problem(asked)).toMatchObject({ code: "rpc_unavailable", retryable: true });
      await faults.clear();
      await catchUp(relayer, chain.client);
      expect((await kit.get(list)).status).toBe(200);
      expect(await read(effect)).toMatchObject(undone[kind].done);
      expect(await logsOf(effect)).toEqual([(await operation())?.hash]);
    });

    test("the explorer does not say either what became of it, and shows it again once the node answers", async () => {
      const effect = await prepare[kind]();
      expect((await effect.ask()).status).toBe(effect.success);
      const confirmed = await operation();
      const { relayer, faults, chain } = kit.sandbox;
      const explore = async (path: string) =>
        await fetch(`${kit.sandbox.description.urls.control}/explorer/${path}`);
      const shown = [
        "purchases",
        `purchases?status=${undone[kind].done.status}`,
        `purchases/${effect.purchase}`,
        "operations?status=confirmed",
        `search?q=${confirmed?.operation_id}`,
        `search?q=${confirmed?.hash}`,
      ];
      const sentence = `The transaction receipt of ${confirmed?.operation_id} got no response: a reorg took its block ${confirmed?.block_number}, and the node did not say what became of it.`;
      await faults.set({ layer: "relayer", point: "receipt", action: "rpc_error", count: null });
      await kit.reorg(1);
      for (const path of shown) {
        const answer = await explore(path);
        expect([path, answer.status]).toEqual([path, 503]);
        expect(await answer.json()).toMatchObject({
          code: "rpc_unavailable",
          detail: sentence.slice(0, -1),
        });
      }
      expect(await (await explore("overview")).json()).toMatchObject({
        unknown: [sentence],
        programs: [{ id: kit.program, gas_budget: null }, { gas_budget: { spent_wei: "0" } }],
      });
      await faults.clear();
      await catchUp(relayer, chain.client);
      for (const path of shown) expect([path, (await explore(path)).status]).toEqual([path, 200]);
      expect(await (await explore("overview")).json()).toMatchObject({ unknown: [] });
    });

    test("a request that its first key repeats answers 503 too, and finishes it once the node answers", async () => {
      const effect = await prepare[kind]();
      const { relayer, faults, chain } = kit.sandbox;
      await faults.set({ layer: "relayer", point: "after_signed", action: "hold" });
      expect((await effect.ask("first-key")).status).toBe(202);
      await catchUp(relayer, chain.client);
      expect(await operation()).toMatchObject({ status: "confirmed" });
      await faults.set({ layer: "relayer", point: "receipt", action: "rpc_error", count: null });
      await kit.reorg(1);
      const answer = await effect.ask("first-key");
      expect(answer.status, answer.text).toBe(503);
      expect(problem(answer)).toMatchObject({ code: "rpc_unavailable", retryable: true });
      expect(problem(answer).detail).toContain("a reorg took its block");
      await faults.clear();
      await catchUp(relayer, chain.client);
      expect((await effect.ask("first-key")).status).toBe(effect.success);
      expect(await read(effect)).toMatchObject(undone[kind].done);
    });

    test.each(["rpc_error", "lose_response", "hold"] as const)(
      "whose first look at the transaction fails (%s), the next look finds it gone and sends it again",
      async (action) => {
        const effect = await prepare[kind]();
        const done = await effect.ask();
        expect(done.status, done.text).toBe(effect.success);
        const { relayer, faults, chain } = kit.sandbox;
        await chain.client.setAutomine(false);
        await faults.set({ layer: "relayer", point: "receipt", action });
        await kit.reorg(1);
        await relayer.follow();
        expect(faults.list()).toMatchObject([{ hits: 1, remaining: 0 }]);
        expect(await operation()).toMatchObject({ status: "broadcast", reorg_count: 1 });
        expect(await read(effect)).toMatchObject(undone[kind].state);
        await relayer.follow();
        await chain.client.mine({ blocks: 1 });
        await chain.client.setAutomine(true);
        await catchUp(relayer, chain.client);
        expect(await logsOf(effect)).toEqual([(await operation())?.hash]);
        expect(await read(effect)).toMatchObject(undone[kind].done);
      },
    );
  },
);

describe.each(["offer", "collect_refund"] as const)(
  "after a reorg in which the first attempt of the %s takes effect",
  { tags: "thorough" },
  (kind) => {
    /** Does an effect whose first attempt reverts and whose second one succeeds. */
    async function doAtSecondAttempt() {
      const effect = await prepare[kind]();
      const { client } = kit.sandbox.chain;
      const reverted = await kit.behind(
        async () => [await kit.wallet(effect.wallet).submit(effect.prevent)],
        async () => await effect.ask("first-key"),
      );
      expect(problem(reverted)).toMatchObject({ operation: { status: "reverted", attempt: 1 } });
      const first = await currentHash();
      const raw = await kit.rawTransaction(first);
      await allowAgain(effect);
      const done = await effect.ask("second-key");
      expect(done.status, done.text).toBe(effect.success);
      const { address } = kit.wallet(effect.wallet);
      const nonce = (await client.getTransactionCount({ address })) - 2;
      const allow = await kit.sign(effect.wallet, effect.allow, nonce);
      const mineFirst = async () =>
        await kit.reorg(3, [
          [allow, 0],
          [raw, 1],
        ]);
      return { effect, first, mineFirst, event_id: JSON.parse(done.text).event_id };
    }

    test("its transaction is reported, not the one of the attempt after it, and nothing is left to repeat", async () => {
      const { effect, first, mineFirst } = await doAtSecondAttempt();
      await mineFirst();
      await expect.poll(operation).toMatchObject({ attempt: 1, status: "confirmed", hash: first });
      expect(await logsOf(effect)).toEqual([first]);
      const purchase = await read(effect);
      expect(purchase).toMatchObject(undone[kind].done);
      if (kind === "collect_refund")
        expect(purchase.refund).toMatchObject({ status: "collected", transaction_hash: first });
      const again = await effect.ask();
      expect(again.status).toBe(409);
      expect(problem(again)).toMatchObject({
        code: "state_conflict",
        current_state: undone[kind].done.status,
      });
    });

    test("a request that waits for it finds no second event", async () => {
      const { effect, first, mineFirst, event_id } = await doAtSecondAttempt();
      const { client } = kit.sandbox.chain;
      await client.setAutomine(false);
      await kit.reorg(3);
      await expect.poll(operation).toMatchObject({ attempt: 2, status: "broadcast" });
      const { answer } = await beginAsking(effect, "third-key");
      await mineFirst();
      await client.setAutomine(true);
      let again = await answer;
      // The second attempt reverts, and the first one may not be looked at yet.
      while (again.status === 202) again = await effect.ask("third-key");
      expect(again.status, again.text).toBe(effect.success);
      expect(JSON.parse(again.text)).toMatchObject({ event_id, operation: { attempt: 1, hash: first } });
      expect(await logsOf(effect)).toEqual([first]);
      expect(await eventsOf(effect)).toHaveLength(1);
    });
  },
);

test("an offer that a reorg undid is refused by the wallet route, which lets the merchant register the purchase instead", async () => {
  const effect = await prepare.offer();
  await undo(effect, "first-key");
  await allowAgain(effect);
  expect(await kit.action("purchase", effect.purchase, "register")).toMatchObject({
    allowed: true,
    why_not: null,
  });
  expect(await kit.action("purchase", effect.purchase, "pay")).toMatchObject({
    allowed: false,
    why_not: expect.stringContaining("The program has not confirmed this purchase yet."),
  });
  const transaction_hash = await kit.act("merchant", "purchase", effect.purchase, "register");
  const offered = await effect.ask();
  expect(offered.status).toBe(409);
  expect(problem(offered)).toMatchObject({
    code: "state_conflict",
    detail:
      "The merchant has registered this purchase. Confirm that with POST …/registration, which takes only a transaction that the merchant's wallet has signed.",
    current_state: "created",
    allowed: ["registration"],
  });
  const registered = await kit.post(kit.path(`/purchases/${effect.purchase}/registration`), {
    transaction_hash,
  });
  expect(registered.status, registered.text).toBe(200);
  expect(await read(effect)).toMatchObject({ status: "active", route: "merchant_direct" });
});

describe("a registration that a reorg removes", () => {
  async function register(id: string): Promise<Hex> {
    const hash = await kit.act("merchant", "purchase", id, "register");
    const path = kit.path(`/purchases/${id}/registration`);
    const answer = await kit.post(path, { transaction_hash: hash });
    expect(answer.status, answer.text).toBe(200);
    return hash;
  }

  /** Has the relayer offer a purchase whose registration a reorg has removed. */
  async function offerAfterRegistration(): Promise<{ id: string; hash: Hex; raw: Hex }> {
    const purchase = await kit.createPurchase(merchant);
    const hash = await register(purchase.id);
    const raw = await kit.rawTransaction(hash);
    await kit.reorg(1);
    const offered = await kit.requestActivation(purchase);
    expect(offered.status, offered.text).toBe(200);
    return { id: purchase.id, hash, raw };
  }

  test("leaves a purchase that is created, and that is active again as soon as the merchant has registered it again", async () => {
    const purchase = (await kit.createPurchase(merchant)).id;
    const first = await register(purchase);
    await kit.reorg(1);
    expect(await read({ purchase })).toMatchObject({ status: "created", route: null });
    const paid = await kit.post(kit.path(`/purchases/${purchase}/reconcile`), {});
    expect(problem(paid)).toMatchObject({
      code: "state_conflict",
      current_state: "created",
      allowed: ["activate", "registration"],
    });
    // A new block, so that the second transaction is not the first one once more.
    await kit.wallet("merchant").send({ to: kit.wallet("merchant").address, data: "0x" });
    expect(await kit.act("merchant", "purchase", purchase, "register")).not.toBe(first);
    expect(await read({ purchase })).toMatchObject({ status: "active", route: "merchant_direct" });
  });

  test("is also removed from the explorer's list and timeline", async () => {
    const purchase = (await kit.createPurchase(merchant)).id;
    await register(purchase);
    await kit.reorg(1);
    const { control } = kit.sandbox.description.urls;
    const listed = async (status: string) =>
      z
        .object({ data: z.array(z.unknown()) })
        .parse(await (await fetch(`${control}/explorer/purchases?status=${status}`)).json()).data;
    expect(await listed("created")).toContainEqual(expect.objectContaining({ id: purchase, route: null }));
    expect(await listed("active")).not.toContainEqual(expect.objectContaining({ id: purchase }));
    const timeline = await (await fetch(`${control}/explorer/purchases/${purchase}`)).json();
    expect(timeline).toMatchObject({ purchase: { status: "created", route: null } });
  });

  test("is reported as it was once the same transaction is mined again", async () => {
    const purchase = (await kit.createPurchase(merchant)).id;
    const hash = await register(purchase);
    const raw = await kit.rawTransaction(hash);
    await kit.reorg(1);
    expect(await read({ purchase })).toMatchObject({ status: "created" });
    await kit.sandbox.chain.client.sendRawTransaction({ serializedTransaction: raw });
    await expect.poll(async () => (await read({ purchase })).status).toBe("active");
  });

  test("is taken over the wallet route too once it takes its place again, though it is used by that registration", async () => {
    const { id, hash, raw } = await offerAfterRegistration();
    await kit.reorg(1, [[raw, 0]]);
    await expect.poll(async () => (await read({ purchase: id })).status).toBe("created");
    const submitted = { action: "register", transaction_hash: hash };
    const taken = await kit.post(`/wallet/${kit.program}/purchase/${id}`, submitted);
    expect(taken.status, taken.text).toBe(200);
    const confirmed = await kit.post(kit.path(`/purchases/${id}/registration`), {});
    expect(JSON.parse(confirmed.text)).toMatchObject({ status: "active", route: "merchant_direct" });
  });

  test("and that another transaction makes again while it is asked for has no second event", async () => {
    const { id, commitment } = await kit.createPurchase(merchant);
    const first = await register(id);
    const { event_id } = await read({ purchase: id });
    const { client } = kit.sandbox.chain;
    await client.setAutomine(false);
    await kit.reorg(1);
    const { transaction } = await kit.action("purchase", id, "register");
    if (transaction === undefined) throw new Error("The registration is offered.");
    const { to, data } = transaction;
    const raw = await kit.sign("merchant", { to, data }, undefined, 900_000n);
    const hash = await client.sendRawTransaction({ serializedTransaction: raw });
    expect(hash).not.toBe(first);
    // When the service reads the route it is not there yet.
    let reads = 0;
    tampered.change("eth_call", async (answer, parameters) => {
      const asked = JSON.stringify(parameters);
      if (asked.includes(readsPurchase) && asked.includes(commitment.hash.slice(2))) {
        reads += 1;
        if (reads === 1) await client.mine({ blocks: 1 });
      }
      return answer;
    });
    const again = await kit.post(kit.path(`/purchases/${id}/registration`), { transaction_hash: hash });
    tampered.clear();
    await client.setAutomine(true);
    expect(reads).toBe(1);
    expect(again.status, again.text).toBe(409);
    expect(problem(again)).toMatchObject({ code: "transaction_unconfirmed", retryable: true });
    const events = await eventsOf({ purchase: id, event: "purchase.registered" });
    expect(events.map(({ transaction_hash }) => transaction_hash)).toEqual([first]);
    expect(await read({ purchase: id })).toMatchObject({ status: "active", event_id });
  });

  test("lets the relayer offer the purchase, and the first registration be confirmed when it takes that place again", async () => {
    const { id, hash, raw } = await offerAfterRegistration();
    expect(await read({ purchase: id })).toMatchObject({ status: "active", route: "registrar_offer" });
    await kit.reorg(1, [[raw, 0]]);
    await expect.poll(async () => (await read({ purchase: id })).status).toBe("created");
    const again = await kit.post(kit.path(`/purchases/${id}/registration`), { transaction_hash: hash });
    expect(again.status, again.text).toBe(200);
    expect(await read({ purchase: id })).toMatchObject({ status: "active", route: "merchant_direct" });
  });
});

test("an offer that a registration replaced, and that a reorg brings back, is recorded once more", async () => {
  const effect = await prepare.offer();
  expect((await effect.ask()).status).toBe(200);
  const purchase = await read(effect);
  const raw = await kit.rawTransaction(await currentHash());
  const { address } = kit.sandbox.chain.deployment.registrar;
  const call = registerCall(address, readCommitment(purchase), purchase.commitment.signature);
  const registration = await kit.sign("merchant", call);
  await kit.reorg(1, [[registration, 0]]);
  await expect.poll(operation).toMatchObject({ status: "reverted" });
  const registered = await kit.post(kit.path(`/purchases/${purchase.id}/registration`), {
    transaction_hash: keccak256(registration),
  });
  expect(registered.status, registered.text).toBe(200);

  // The blocks of the registration and of the offer that reverted behind it.
  await kit.reorg(2, [[raw, 0]]);
  await expect.poll(operation).toMatchObject({ status: "confirmed", attempt: 1 });
  expect(await read(effect)).toMatchObject({ status: "created", route: null });
  const again = await effect.ask();
  expect(again.status, again.text).toBe(200);
  expect(await read(effect)).toMatchObject({ status: "active", route: "registrar_offer" });
  const types = (await kit.sandbox.store.list("events", { subject: purchase.id })).map(
    ({ value }) => value.type,
  );
  expect(types).toEqual([
    "purchase.created",
    "purchase.activated",
    "purchase.registered",
    "purchase.activated",
  ]);
});

describe("a reconciled payment that a reorg removes", () => {
  async function paid() {
    const purchase = await kit.activePurchase(merchant);
    const hash = await kit.pay(purchase);
    const { applied } = await kit.reconcile(purchase);
    const raw = await kit.rawTransaction(hash);
    const [{ receipts }] = [await read({ purchase: purchase.id })];
    expect(receipts).toEqual(applied);
    return { purchase, hash, raw, first: applied };
  }

  const reconciliations = async (purchase: string) =>
    await eventsOf({ purchase, event: "purchase.reconciled" });

  /** Returns the step of a payment as the refusal names it when the payment is sent as the registration of another purchase. */
  async function useOf(transaction_hash: Hex): Promise<unknown> {
    const { id } = await kit.createPurchase(merchant);
    const refused = problem(await kit.post(kit.path(`/purchases/${id}/registration`), { transaction_hash }));
    expect(refused).toMatchObject({ status: 422, code: "binding_mismatch" });
    return refused.binding?.checks.find(({ name }) => name === "unused");
  }

  test("is reported as taken back, with its number in the event", async () => {
    const { purchase, first } = await paid();
    await kit.reorg(1);
    const taken = await kit.reconcile(purchase);
    expect(taken).toMatchObject({ applied: [], already_reconciled: [], reverted: first });
    expect((await reconciliations(purchase.id)).map(({ totals }) => totals)).toEqual([
      { applied: 1, reverted: 0, affected_purchases: 1 },
      { applied: 0, reverted: 1, affected_purchases: 1 },
    ]);
  });

  test("is not reconciled in the block that mines it again, until it is recorded there, and stays used", async () => {
    const { purchase, hash, raw, first } = await paid();
    await kit.reorg(1);
    await kit.sandbox.chain.client.sendRawTransaction({ serializedTransaction: raw });
    const { blockNumber, blockHash } = await kit.wallet("buyer").receipt(hash);
    const elsewhere = { ...first[0], block_number: Number(blockNumber), block_hash: blockHash };
    const moved = await read({ purchase: purchase.id });
    expect(moved.receipts).toEqual([{ ...elsewhere, reconciled_at: null }]);
    const recorded = await kit.reconcile(purchase);
    const again = { ...elsewhere, reconciled_at: recorded.applied[0]?.reconciled_at };
    expect(again.reconciled_at).not.toBeNull();
    expect(recorded).toMatchObject({ applied: [again], already_reconciled: [], reverted: first });
    expect((await read({ purchase: purchase.id })).receipts).toEqual([again]);
    expect(await useOf(hash)).toEqual({
      name: "unused",
      ok: false,
      expected: null,
      actual: `payment of ${hash}`,
    });
  });
});

test("a claimed purchase whose offer a reorg undid is claimed again once the offer is repeated", async () => {
  const effect = await prepare.offer();
  expect((await effect.ask("first-key")).status).toBe(200);
  const purchase = await read(effect);
  await kit.pay(purchase);
  await kit.reconcile(purchase);
  const claim = await kit.claim(purchase);
  // The blocks of the offer, the approval, the payment and the claim.
  await kit.reorg(4, [[await kit.sign(effect.wallet, effect.prevent), 0]]);
  await expect.poll(async () => (await operation())?.status).toBe("reverted");
  expect(await read(effect)).toMatchObject({ status: "created", route: null, claim: { id: claim.id } });
  await allowAgain(effect);
  const done = await effect.ask();
  expect(done.status, done.text).toBe(200);
  expect(JSON.parse(done.text)).toMatchObject({
    purchase: { status: "claimed", route: "registrar_offer", claim: { id: claim.id } },
    operation: { attempt: 2, status: "confirmed" },
  });
  expect(await kit.reconcile(purchase)).toMatchObject({
    applied: [],
    reverted: [{ amount: "25000000" }],
    purchase: { status: "claimed" },
  });
});

test("a refund whose transaction is mined again after a reorg during a request is reported as before, with one event", async () => {
  const effect = await prepare.collect_refund();
  const done = await effect.ask("first-key");
  expect(done.status, done.text).toBe(201);
  const { refund } = JSON.parse(done.text);
  await kit.sandbox.chain.client.setAutomine(false);
  await kit.reorg(1);
  expect(await read(effect)).toMatchObject({
    status: "refund_due",
    refund: { status: "due", transaction_hash: null, collected_at: null },
  });
  const { answer } = await beginAsking(effect, "second-key");
  await kit.sandbox.chain.client.mine({ blocks: 1 });
  await kit.sandbox.chain.client.setAutomine(true);
  const again = await answer;
  expect(again.status, again.text).toBe(201);
  expect(JSON.parse(again.text)).toMatchObject({ refund, event_id: refund.event_id });
  expect(await eventsOf(effect)).toHaveLength(1);
  expect(await logsOf(effect)).toEqual([refund.transaction_hash]);
  expect(await read(effect)).toMatchObject({ status: "refunded", refund });
});

/** Which transaction is mined after a reorg has had the relayer raise the fee of an effect. */
const minedInstead = {
  "the replacement": async () => await kit.sandbox.chain.client.mine({ blocks: 1 }),
  // In one step: the relayer sends its replacement again when it looks for it and the node does not have it.
  "the first transaction, which races it": async (first: Hex) => await kit.reorg(1, [[first, 0]]),
} as const;

async function currentHash(): Promise<Hex> {
  const hash = (await operation())?.hash;
  if (!hash) throw new Error("The operation has a transaction.");
  return hash;
}

describe.each(["offer", "collect_refund"] as const)(
  "after a reorg with which the relayer raises the fee of the %s",
  { tags: "thorough" },
  (kind) => {
    describe.each(["after_signed", "after_broadcast"] as const)("(%s)", (point) => {
      test.each(["the replacement", "the first transaction, which races it"] as const)(
        "a request that waits for it finds %s, and no second event",
        async (mined) => {
          const effect = await prepare[kind]();
          const done = await effect.ask("first-key");
          expect(done.status, done.text).toBe(effect.success);
          const { event_id } = JSON.parse(done.text);
          const { faults, chain } = kit.sandbox;
          const first = await currentHash();
          const raw = await kit.rawTransaction(first);
          await chain.client.setAutomine(false);
          await faults.set({ layer: "relayer", point, action: "replace" });
          await kit.reorg(1);
          await expect.poll(operation).toMatchObject({
            status: "broadcast",
            attempt: 1,
            hashes: [{ purpose: "original" }, { purpose: "bump", outcome: "broadcast" }],
          });
          const { answer } = await beginAsking(effect, "second-key");
          await minedInstead[mined](raw);
          await chain.client.setAutomine(true);
          const again = await answer;
          expect(again.status, again.text).toBe(effect.success);
          const [log] = await logsOf(effect);
          expect(log === first).toBe(mined !== "the replacement");
          expect(JSON.parse(again.text)).toMatchObject({ event_id, operation: { attempt: 1, hash: log } });
          expect((await eventsOf(effect)).map(({ transaction_hash }) => transaction_hash)).toEqual([first]);
          const purchase = await read(effect);
          expect(purchase).toMatchObject({ ...undone[kind].done, event_id });
          if (kind !== "collect_refund") return;
          const collected_at =
            log === first ? JSON.parse(done.text).refund.collected_at : (await operation())?.confirmed_at;
          expect(purchase.refund).toMatchObject({ transaction_hash: log, collected_at });
        },
      );
    });
  },
);

test.each(["offer", "collect_refund"] as const)(
  "a request for the %s that a reorg and a restart interrupt is answered with the replacement, and no second event",
  { tags: "thorough" },
  async (kind) => {
    const shared = { kit, merchant };
    const options = { seed: "restarted", receiptTimeoutMs: 250, dataDirectory: await temporaryFolder() };
    try {
      kit = await TestKit.open(options);
      merchant = await kit.fundedMerchant();
      const effect = await prepare[kind]();
      const finish = async (key: string) => {
        let answer: Answer;
        do answer = await effect.ask(key);
        while (answer.status === 202);
        expect(answer.status, answer.text).toBe(effect.success);
        return JSON.parse(answer.text);
      };
      const { event_id } = await finish("first-key");
      const first = await currentHash();
      await kit.sandbox.chain.client.setAutomine(false);
      await kit.sandbox.faults.set({ layer: "relayer", point: "after_signed", action: "replace" });
      await kit.reorg(1);
      await expect.poll(async () => (await operation())?.hashes).toHaveLength(2);
      expect((await effect.ask("second-key")).status).toBe(202);
      await kit.sandbox.close();

      kit = await TestKit.open(options);
      await kit.sandbox.chain.client.setAutomine(true);
      expect(await finish("second-key")).toMatchObject({ event_id });
      const [log] = await logsOf(effect);
      expect(log).not.toBe(first);
      expect(await operation()).toMatchObject({ hash: log, attempt: 1, status: "confirmed" });
      expect((await eventsOf(effect)).map(({ transaction_hash }) => transaction_hash)).toEqual([first]);
      expect(await read(effect)).toMatchObject({ ...undone[kind].done, event_id });
      await kit.sandbox.close();
    } finally {
      ({ kit, merchant } = shared);
    }
  },
);
