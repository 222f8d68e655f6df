import { encodeFunctionData, type Hex } from "viem";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { purchaseRegistrarAbi } from "../../protocol/abi.generated.ts";
import { approveCall } from "../../protocol/call.ts";
import { hashId } from "../../protocol/id.ts";
import type { OperationKind } from "../../relayer/relayer.ts";
import type { Snapshot } from "../../sandbox/snapshot.ts";
import { type Answer, present, problem, type Schema, Stage } from "./stage.ts";

let stage: Stage;
let merchant: Schema<"Merchant">;
let mark: Snapshot;

const cap = 1_000_000_000_000n;

beforeAll(async () => {
  stage = await Stage.open({ seed: "reorgs", patienceMs: 30_000 });
  merchant = await stage.fundedMerchant();
  mark = await stage.sandbox.snapshot();
});

beforeEach(async () => {
  await mark.restore();
  await stage.renew();
});

afterAll(async () => {
  await stage[Symbol.asyncDispose]();
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
  const { token, fundingSource } = stage.sandbox.chain.deployment;
  return approveCall(token.address, fundingSource.address, allowance);
}

function pause(paused: boolean): Call {
  const args = [hashId(stage.program), paused] as const;
  const data = encodeFunctionData({ abi: purchaseRegistrarAbi, functionName: "setPaused", args });
  return { to: stage.sandbox.chain.deployment.registrar.address, data };
}

const prepare: { readonly [K in OperationKind]: () => Promise<Effect> } = {
  async offer() {
    const { id, commitment } = await stage.createPurchase(merchant);
    const ask = async (key = stage.key()) =>
      await stage.post(
        stage.path(`/purchases/${id}/activate`),
        { commitment_hash: commitment.hash },
        { "Idempotency-Key": key },
      );
    const made = { success: 200, event: "purchase.activated", log: "PurchaseOffered" } as const;
    return { ...made, purchase: id, ask, wallet: "deployer", prevent: pause(true), allow: pause(false) };
  },
  async collect_refund() {
    const { purchase, decision } = await stage.approvedPurchase(merchant);
    const { id } = purchase;
    const ask = async (key = stage.key()) =>
      await stage.post(
        stage.path(`/purchases/${id}/refunds`),
        { decision_id: decision.id },
        { "Idempotency-Key": key },
      );
    const made = { success: 201, event: "refund.collected", log: "RefundCollected" } as const;
    return { ...made, purchase: id, ask, wallet: "merchant", prevent: approval(0n), allow: approval(cap) };
  },
};

async function read({ purchase }: Pick<Effect, "purchase">): Promise<Schema<"Purchase">> {
  return present(
    await stage.api.GET("/v1/routing/programs/{program}/purchases/{id}", {
      params: { path: { program: stage.program, id: purchase } },
    }),
  );
}

/** The newest relay operation of the program. */
async function operation() {
  const { data } = present(
    await stage.api.GET("/v1/routing/programs/{program}/transactions", {
      params: { path: { program: stage.program } },
    }),
  );
  return data.at(-1);
}

async function logsOf({ purchase, log }: Effect): Promise<Hex[]> {
  const { client, deployment } = stage.sandbox.chain;
  const { hash } = (await read({ purchase })).commitment;
  const logs = await client.getContractEvents({
    address: deployment.registrar.address,
    abi: purchaseRegistrarAbi,
    eventName: log,
    fromBlock: 0n,
  });
  return logs.filter(({ args }) => args.id === hash).map(({ transactionHash }) => transactionHash);
}

async function eventsOf({ purchase, event }: Effect) {
  const events = await stage.sandbox.store.list("events", { subject: purchase });
  return events.filter(({ value }) => value.type === event).map(({ value }) => JSON.parse(value.body).data);
}

/** Does an effect, then has a reorg put what makes it revert in front of its transaction. */
async function undo(effect: Effect, key: string): Promise<void> {
  const done = await effect.ask(key);
  expect(done.status, done.text).toBe(effect.success);
  await stage.reorg(1, [[await stage.sign(effect.wallet, effect.prevent), 0]]);
  await expect.poll(async () => (await operation())?.status).toBe("reverted");
}

async function allowAgain({ wallet, allow }: Effect): Promise<void> {
  expect((await stage.wallet(wallet).send(allow)).status).toBe("success");
}

/** What a purchase is once the relayed transaction is undone, and what the next request is refused with. */
const undone = {
  offer: {
    state: { status: "created", route: null },
    refused: { code: "registrar_bound_exceeded", detail: "The registrar's bounds do not allow this offer." },
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
      detail: "The award is 10000000; the allowance to the funding source is 0.",
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
    await stage.reorg(1, [[await stage.sign(effect.wallet, effect.prevent), 0]]);
    await expect.poll(async () => (await operation())?.status).toBe("reverted");
    const again = await effect.ask("first-key");
    expect(again).toMatchObject({ status: effect.success, text: done.text });
    expect(again.headers["idempotent-replayed"]).toBe("true");
  });

  test("the explorer's list and story say so too", async () => {
    const effect = await prepare[kind]();
    await undo(effect, "first-key");
    const { status } = undone[kind].state;
    const { control } = stage.sandbox.description.urls;
    const list = await (await fetch(`${control}/explorer/purchases?status=${status}`)).json();
    expect(list).toMatchObject({ data: [{ id: effect.purchase, status }] });
    const story = await (await fetch(`${control}/explorer/purchases/${effect.purchase}`)).json();
    expect(story).toMatchObject({ purchase: { status } });
  });
});
