import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { type Answer, present, problem } from "../../kit/answer.ts";
import { type ExternalReceiver, openReceiver } from "../../kit/external-receiver.ts";
import { holdDelivery } from "../../kit/hold-delivery.ts";
import { resetBeforeEach } from "../../kit/reset-before-each.ts";
import { TestKit } from "../../kit/test-kit.ts";

let receiver: ExternalReceiver;
let kit: TestKit;
let merchantId: string;

resetBeforeEach(async () => {
  receiver = await openReceiver();
  kit = await TestKit.open({ seed: "idempotency", receiptTimeoutMs: 30_000, receiverUrl: receiver.url });
  merchantId = (await kit.enrolledMerchant()).id;
  return kit;
});

beforeEach(() => {
  receiver.answer = (_request, response) => response.end();
});

afterAll(async () => {
  await receiver[Symbol.asyncDispose]();
});

const purchases = "/v1/routing/programs/prg_demo/purchases";

function purchaseBody() {
  return {
    merchant_id: merchantId,
    buyer: kit.wallet("buyer").address,
    amount: "25000000",
    terms: { a: 1, b: 2 },
  };
}

async function create(key: string, body: unknown = purchaseBody()): Promise<Answer> {
  return await kit.post(purchases, body, { "Idempotency-Key": key });
}

async function count(collection: "purchases" | "events" | "operations"): Promise<number> {
  return (await kit.sandbox.store.list(collection, {})).length;
}

describe("a key", () => {
  test.each([
    ["missing", undefined, "idempotency_key_missing"],
    ["of 7 characters", "1234567", "idempotency_key_invalid"],
    ["of 101 characters", "x".repeat(101), "idempotency_key_invalid"],
    ["with a space", "with space", "idempotency_key_invalid"],
    ["beyond ASCII", "schlüssel", "idempotency_key_invalid"],
    ["sent twice", ["12345678", "12345678"], "idempotency_key_invalid"],
  ])("that is %s is refused", async (_, key, code) => {
    const headers = {
      Authorization: `Bearer ${kit.credential}`,
      "Content-Type": "application/json",
      ...(key === undefined ? {} : { "Idempotency-Key": key }),
    };
    const answer = await kit.raw(purchases, {
      method: "POST",
      headers,
      body: JSON.stringify(purchaseBody()),
    });
    expect(answer.status).toBe(400);
    expect(problem(answer).code).toBe(code);
  });

  test("that is missing is refused with what to send", async () => {
    const headers = { Authorization: `Bearer ${kit.credential}`, "Content-Type": "application/json" };
    const answer = await kit.raw(purchases, { method: "POST", headers, body: "{}" });
    expect(problem(answer).detail).toBe(
      "The Idempotency-Key header is missing. Send a new text of 8 to 100 characters for each write.",
    );
  });

  test("with a space is refused with the place of the space", async () => {
    expect(problem(await create("with space")).detail).toBe(
      "Character 5 of the Idempotency-Key is a space. Send 8 to 100 visible ASCII characters.",
    );
  });

  test.each([
    ["of 8 characters", "12345678"],
    ["of 100 characters", "~".repeat(100)],
  ])("%s is taken", async (_, key) => {
    expect((await create(key)).status).toBe(201);
  });
});

describe("the identical request again", () => {
  test("gets the first answer byte for byte, and does nothing", async () => {
    const first = await create("order-1001");
    const digest = await kit.digest();
    const again = await create("order-1001");
    expect(again.status).toBe(201);
    expect(again.text).toBe(first.text);
    expect(again.headers["content-type"]).toBe(first.headers["content-type"]);
    expect(first.headers["idempotent-replayed"]).toBeUndefined();
    expect(again.headers["idempotent-replayed"]).toBe("true");
    expect(await kit.digest()).toBe(digest);
  });

  test("is the identical one in another order of names and with other white space", async () => {
    const first = await create("order-1001");
    const { merchant_id, buyer, amount } = purchaseBody();
    const again = await create(
      "order-1001",
      `{ "terms": { "b": 2.0, "a": 1 },\n "amount": "${amount}", "buyer": "${buyer}", "merchant_id": "${merchant_id}" }`,
    );
    expect(again.text).toBe(first.text);
  });

  test("is the identical one with any percent-encoding of its path", async () => {
    const first = await create("order-1001");
    const again = await kit.post(purchases.replace("prg_demo", "prg%5Fdemo"), purchaseBody(), {
      "Idempotency-Key": "order-1001",
    });
    expect(again.text).toBe(first.text);
  });

  test("works with a renewed credential, and needs one that holds the scope", async () => {
    const first = await create("order-1001");
    await kit.renew(["records:read"]);
    expect(problem(await create("order-1001")).code).toBe("scope_missing");
    await kit.renew();
    expect((await create("order-1001")).text).toBe(first.text);
  });

  test("that is sent fifty times at once has one effect and fifty equal answers", async () => {
    const before = await count("purchases");
    const answers = await Promise.all(Array.from({ length: 50 }, async () => await create("order-1001")));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 50 }, () => 201));
    expect(answers.filter(({ headers }) => headers["idempotent-replayed"] === undefined)).toHaveLength(1);
    expect(await count("purchases")).toBe(before + 1);
  });

  test("fifty activations at once are one transaction", async () => {
    const purchase = await kit.createPurchase({ id: merchantId });
    const body = { commitment_hash: purchase.commitment.hash };
    const activate = async () =>
      await kit.post(`${purchases}/${purchase.id}/activate`, body, { "Idempotency-Key": "activate-1" });
    const answers = await Promise.all(Array.from({ length: 50 }, activate));
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(await count("operations")).toBe(1);
  });
});

test("fifty activations at once with a key each are one transaction; one does it and the others conflict", async () => {
  const purchase = await kit.createPurchase({ id: merchantId });
  const body = { commitment_hash: purchase.commitment.hash };
  const answers = await Promise.all(
    Array.from({ length: 50 }, async () => await kit.post(`${purchases}/${purchase.id}/activate`, body)),
  );
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  expect(
    answers.filter((answer) => answer.status === 409 && problem(answer).code === "state_conflict"),
  ).toHaveLength(49);
  expect(await count("operations")).toBe(1);
});

test("five reconciliations at once of one batch, each for another purchase of it, record each payment once", async () => {
  const paid = [];
  for (let count = 0; count < 5; count += 1) paid.push(await kit.activePurchase({ id: merchantId }));
  const { buyer } = kit.sandbox.wallets;
  const [first] = paid;
  if (first === undefined) throw new Error("There are five purchases.");
  await buyer.approve(first, 5n);
  const { transaction_hash } = await buyer.payBatch(paid.map((purchase) => ({ purchase, amount: 1n })));
  const body = { transaction_hashes: [transaction_hash] };
  const answers = await Promise.all(
    paid.map(async ({ id }) => await kit.post(`${purchases}/${id}/reconcile`, body)),
  );
  expect(answers.map(({ status, text }) => [status, status === 200 ? "" : text])).toEqual(
    paid.map(() => [200, ""]),
  );
  const applied = answers.map(({ text }) => JSON.parse(text).applied.length);
  expect(applied.toSorted()).toEqual([0, 0, 0, 0, 5]);
});

test("fifty purchases at once with a key each are fifty purchases, each with an event in the sequence", async () => {
  const before = await count("events");
  const answers = await Promise.all(Array.from({ length: 50 }, async () => await create(kit.key())));
  expect(new Set(answers.map(({ text }) => JSON.parse(text).id)).size).toBe(50);
  const events = await kit.sandbox.store.list("events", {});
  const sequences = events.map(({ value }) => value.sequence).sort((left, right) => left - right);
  expect(sequences).toEqual(Array.from({ length: before + 50 }, (_, index) => index + 1));
});

describe("a key that was used", () => {
  const reused = {
    status: 422,
    code: "idempotency_key_reused",
    detail:
      "This Idempotency-Key was sent before with another method, path or body. Send a new key for a new request.",
    retryable: false,
  };

  test("is refused with another body, and changes nothing", async () => {
    await create("order-1001");
    const digest = await kit.digest();
    const other = await create("order-1001", { ...purchaseBody(), amount: "25000001" });
    expect(problem(other)).toMatchObject(reused);
    expect(await kit.digest()).toBe(digest);
  });

  test("is refused with the same body at another path, and changes nothing", async () => {
    const [first, second] = [
      await kit.activePurchase({ id: merchantId }),
      await kit.activePurchase({ id: merchantId }),
    ];
    const reconcile = async ({ id }: { id: string }) =>
      await kit.post(`${purchases}/${id}/reconcile`, {}, { "Idempotency-Key": "reconcile-1" });
    const { status, text } = await reconcile(first);
    expect(status).toBe(200);
    const digest = await kit.digest();
    expect(problem(await reconcile(second))).toMatchObject(reused);
    expect((await reconcile(first)).text).toBe(text);
    expect(await kit.digest()).toBe(digest);
  });

  test("is refused for another request when its outcome is unknown", async () => {
    const { id, commitment } = await kit.createPurchase({ id: merchantId });
    const key = { "Idempotency-Key": "activate-1" };
    await kit.sandbox.faults.set({ layer: "relayer", point: "broadcast", action: "foreign_nonce" });
    const path = `${purchases}/${id}/activate`;
    const unknown = await kit.post(path, { commitment_hash: commitment.hash }, key);
    expect(problem(unknown)).toMatchObject({ status: 409, code: "outcome_unknown" });
    const other = await kit.post(`${purchases}/${id}/reconcile`, {}, key);
    expect(problem(other)).toMatchObject(reused);
    const again = await kit.post(path, { commitment_hash: commitment.hash }, key);
    expect(problem(again)).toMatchObject({ status: 409, code: "outcome_unknown" });
  });

  test("means nothing in another program", async () => {
    await create("order-1001");
    const { credential } = await kit.issue(kit.otherAccountKey);
    const answer = await kit.post(
      "/v1/routing/programs/prg_other/merchants",
      { wallet: kit.wallet("other_merchant").address, name: "Other", funding_cap: "1" },
      { "Idempotency-Key": "order-1001", Authorization: `Bearer ${credential}` },
    );
    expect(answer.status).toBe(201);
  });

  test("is free again when the request was refused", async () => {
    const refused = await create("order-1001", {
      ...purchaseBody(),
      merchant_id: "mer_aaaaaaaaaaaaaaaaaaaa",
    });
    expect(refused.status).toBe(404);
    expect((await create("order-1001")).status).toBe(201);
  });

  test("is free again when the request was refused before it had an effect, for another body as well", async () => {
    await using poor = await TestKit.open({ seed: "poor", gasBudgetWei: 0n });
    const merchant = await poor.enrolledMerchant();
    const [first, second] = [await poor.createPurchase(merchant), await poor.createPurchase(merchant)];
    const key = { "Idempotency-Key": "activate-1" };
    const activate = async ({ id, commitment }: typeof first) =>
      await poor.post(poor.path(`/purchases/${id}/activate`), { commitment_hash: commitment.hash }, key);
    expect(problem(await activate(first)).code).toBe("gas_budget_exceeded");
    expect(problem(await activate(second)).code).toBe("gas_budget_exceeded");
  });

  test("on a wallet route counts for this object only", async () => {
    const [first, second] = [
      await kit.createPurchase({ id: merchantId }),
      await kit.createPurchase({ id: merchantId }),
    ];
    await kit.activate(first);
    await kit.activate(second);
    for (const [{ id }, action] of [[first, "approve"] as const, [second, "pay"] as const]) {
      const transaction_hash = await kit.act("buyer", "purchase", id, action);
      const path = `/wallet/prg_demo/purchase/${id}`;
      const body = { action, transaction_hash };
      const answer = await kit.post(path, body, { "Idempotency-Key": "wallet-1" });
      expect(answer.status, answer.text).toBe(200);
      const again = await kit.post(path, body, { "Idempotency-Key": "wallet-1" });
      expect(again.text).toBe(answer.text);
    }
  });
});

test("a transaction that anyone submits again over the wallet route changes nothing and causes no event", async () => {
  const purchase = await kit.activePurchase({ id: merchantId });
  const transaction_hash = await kit.act("buyer", "purchase", purchase.id, "approve");
  const path = `/wallet/prg_demo/purchase/${purchase.id}`;
  const first = await kit.post(path, { action: "approve", transaction_hash });
  const before = await count("events");
  const again = await kit.post(path, { action: "approve", transaction_hash });
  expect(again.text).toBe(first.text);
  expect(await count("events")).toBe(before);
});

test("a relayed operation that is not confirmed is 202, and the identical request resumes it", async () => {
  const purchase = await kit.createPurchase({ id: merchantId });
  const activate = async () =>
    await kit.post(
      `${purchases}/${purchase.id}/activate`,
      { commitment_hash: purchase.commitment.hash },
      { "Idempotency-Key": "activate-1" },
    );
  await kit.sandbox.faults.set({ layer: "relayer", point: "after_broadcast", action: "hold" });
  const first = await activate();
  expect(first.status).toBe(202);
  expect(first.headers["retry-after"]).toBe("1");
  const second = await activate();
  expect(second.status).toBe(200);
  expect(second.headers["idempotent-replayed"]).toBeUndefined();
  const { operation } = JSON.parse(second.text);
  expect(operation.operation_id).toBe(JSON.parse(first.text).operation.operation_id);
  expect(operation.hashes).toHaveLength(1);
  expect((await activate()).text).toBe(second.text);
});

test("the same key with another body cannot take over an effect in progress", async () => {
  const purchase = await kit.createPurchase({ id: merchantId });
  const path = `${purchases}/${purchase.id}/activate`;
  await kit.sandbox.faults.set({ layer: "relayer", point: "after_broadcast", action: "hold" });
  const key = { "Idempotency-Key": "activate-1" };
  expect((await kit.post(path, { commitment_hash: purchase.commitment.hash }, key)).status).toBe(202);
  const other = await kit.post(path, { commitment_hash: `0x${"00".repeat(32)}` }, key);
  expect(problem(other).code).toBe("idempotency_key_reused");
});

test("the identical request during the first gets 409 idempotency_in_flight, and later its answer", async () => {
  await using impatient = await TestKit.open({
    seed: "impatient",
    receiptTimeoutMs: 50,
    // The identical request must not wait as long as this.
    deliveryTimeoutMs: 60_000,
    receiverUrl: receiver.url,
  });
  const { deliver, first, release } = await holdDelivery(impatient, receiver);
  const meanwhile = await deliver();
  expect(meanwhile.status).toBe(409);
  expect(problem(meanwhile)).toMatchObject({ code: "idempotency_in_flight", retryable: true });
  expect(meanwhile.headers["retry-after"]).toBe("1");
  const { client, clock, description } = impatient.sandbox;
  const [before, { urls }] = [await clock.now(), description];
  const header = { "Idempotency-Key": "deliver-1" };
  const retried = client.retrying.POST("/v1/routing/programs/{program}/notifications", {
    params: { path: { program: impatient.program }, header },
    body: {},
  });
  const refusals = async () =>
    JSON.parse(await (await fetch(`${urls.control}/requests?status=409`)).text()).data.length;
  await expect.poll(refusals).toBeGreaterThan(1);
  release();
  const { text } = await first;
  expect(present(await retried)).toEqual(JSON.parse(text));
  expect(await clock.now(), "the client waited in real time").toBe(before);
  await impatient.renew();
  expect((await deliver()).text).toBe(text);
  expect(present({ data: JSON.parse(text) }).notification.attempts).toHaveLength(1);
});

test("two deliveries at once with a key each are of two events", async () => {
  const ids: string[] = [];
  receiver.answer = (request, response) => {
    ids.push(String(request.headers["webhook-id"]));
    response.end();
  };
  const path = "/v1/routing/programs/prg_demo/notifications";
  await Promise.all([kit.post(path, {}), kit.post(path, {})]);
  expect(new Set(ids).size).toBe(2);
});
