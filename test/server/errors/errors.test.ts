import { execFile, spawnSync } from "node:child_process";
import { promisify } from "node:util";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { payCall } from "../../../protocol/call.ts";
import { listen } from "../../../sandbox/lib/http/listen.ts";
import { pagesOf } from "../../../sandbox/options/pages-of-ports.ts";
import { type ErrorCode, errorCatalogue, errorCodes } from "../../../server/errors/catalogue.ts";
import { problemSchema } from "../../../server/schemas/problem.ts";
import { startSandbox } from "../../end-to-end/started-sandbox.ts";
import { exchange } from "../../exchange.ts";
import { type Answer, present, problem, type Schema } from "../../kit/answer.ts";
import { type ExternalReceiver, openReceiver } from "../../kit/external-receiver.ts";
import { holdDelivery } from "../../kit/hold-delivery.ts";
import { resetBeforeEach } from "../../kit/reset-before-each.ts";
import { TestKit } from "../../kit/test-kit.ts";
import { temporaryFolder } from "../../temporary-folder.ts";

const unknownId = "aaaaaaaaaaaaaaaaaaaa";
const hashOfNothing = `0x${"5c".repeat(32)}`;

let receiver: ExternalReceiver;
let kit: TestKit;
let merchant: Schema<"Merchant">;
/**
 * The status of each code, and whether the identical request may succeed later; where that depends on the cause, as it is in this file's
 * scenario. Written out, not read from the catalogue.
 */
const expected: { readonly [C in ErrorCode]: readonly [status: number, retryable: boolean] } = {
  request_malformed: [400, false],
  idempotency_key_missing: [400, false],
  idempotency_key_invalid: [400, false],
  body_malformed: [400, false],
  credential_malformed: [400, false],
  credential_missing: [401, false],
  credential_invalid: [401, false],
  credential_expired: [401, false],
  credential_revoked: [401, false],
  host_not_allowed: [403, false],
  page_not_allowed: [403, false],
  scope_missing: [403, false],
  program_mismatch: [403, false],
  reviewer_not_designated: [403, false],
  receiver_not_pinned: [403, false],
  not_found: [404, false],
  outbox_empty: [404, true],
  route_not_found: [404, false],
  method_not_allowed: [405, false],
  request_timeout: [408, true],
  idempotency_in_flight: [409, true],
  state_conflict: [409, false],
  merchant_not_enrolled: [409, true],
  transaction_not_found: [409, true],
  transaction_unconfirmed: [409, true],
  transaction_already_used: [409, false],
  claim_window_closed: [409, false],
  deadline_passed: [409, false],
  registrar_bound_exceeded: [409, true],
  gas_budget_exceeded: [409, true],
  funding_source_insufficient: [409, true],
  delivery_exhausted: [409, false],
  approval_replayed: [409, false],
  outcome_unknown: [409, true],
  body_too_large: [413, false],
  content_type_unsupported: [415, false],
  content_encoding_unsupported: [415, false],
  expectation_unsupported: [417, false],
  idempotency_key_reused: [422, false],
  validation_failed: [422, false],
  signature_invalid: [422, false],
  signer_mismatch: [422, false],
  commitment_mismatch: [422, false],
  binding_mismatch: [422, false],
  transaction_reverted: [422, false],
  timestamp_out_of_tolerance: [422, false],
  event_mismatch: [422, false],
  rate_limited: [429, true],
  headers_too_large: [431, false],
  internal_error: [500, true],
  transfer_encoding_unsupported: [501, false],
  service_starting: [503, true],
  service_closing: [503, true],
  rpc_unavailable: [503, true],
  chain_mismatch: [503, true],
  storage_unavailable: [503, true],
};
const met = new Set<ErrorCode>();

resetBeforeEach(async () => {
  receiver = await openReceiver();
  kit = await TestKit.open({ seed: "errors", receiptTimeoutMs: 30_000, receiverUrl: receiver.url });
  merchant = await kit.enrolledMerchant();
  return kit;
});

beforeEach(() => {
  receiver.answer = (_request, response) => response.end();
});

afterAll(async () => {
  await receiver[Symbol.asyncDispose]();
});

/** The answer must be this refusal, in full, and its type a page that explains it. */
async function expectProblem(answer: Answer, code: ErrorCode, docs = kit.sandbox.description.urls.docs) {
  const [status, retryable] = expected[code];
  const { title } = errorCatalogue[code];
  const body = problem(answer);
  const undescribed = Object.keys(body).filter((name) => !(name in problemSchema.shape));
  expect(undescribed, "members that the description does not have").toEqual([]);
  expect(body).toMatchObject({ type: `${docs}/errors/${code}`, title, status, code, retryable });
  expect(answer.status).toBe(status);
  expect(body.request_id).toBe(answer.headers["x-request-id"]);
  expect(body.instance.startsWith("/")).toBe(true);
  expect(body.detail).not.toBe("");
  expect(answer.headers["cache-control"]).toBe("no-store");
  expect(answer.text).not.toMatch(/node_modules|\bat .+:\d+:\d+/);
  const page = await fetch(body.type);
  expect(page.status).toBe(200);
  expect(await page.text()).toContain(`# ${title}`);
  met.add(code);
  return body;
}

async function claimed() {
  const purchase = await kit.paidPurchase(merchant);
  return { purchase, claim: await kit.claim(purchase), path: kit.path(`/purchases/${purchase.id}`) };
}

async function activate(on: TestKit, purchase: Schema<"Purchase">): Promise<Answer> {
  return await on.post(on.path(`/purchases/${purchase.id}/activate`), {
    commitment_hash: purchase.commitment.hash,
  });
}

/** A sandbox that is its own receiver, and a delivery that arrived there. */
async function openDelivered() {
  const receiving = await TestKit.open({ seed: "receiving" });
  const start = await receiving.sandbox.snapshot();
  await receiving.createMerchant();
  await receiving.post(receiving.path("/notifications"), {});
  const { headers, body } = await receiving.sandbox.receiver.next();
  return {
    receiving,
    start,
    /** Sends it once more, which must be refused. */
    async resend(code: ErrorCode): Promise<Answer> {
      const path = "/v1/routing/notification-receiver";
      const answer = await receiving.raw(path, { method: "POST", headers, body });
      await expectProblem(answer, code, receiving.sandbox.description.urls.docs);
      return answer;
    },
    [Symbol.asyncDispose]: async () => await receiving[Symbol.asyncDispose](),
  };
}

const wallet = () => ({
  wallet: kit.wallet("other_merchant").address,
  name: "Corner Books",
  funding_cap: "1000",
});

/** The request that causes each code, over HTTP. */
const scenarios: { readonly [C in ErrorCode]?: () => Promise<Answer> } = {
  request_malformed: async () => await exchange(kit.base, "GET / HTTP/1.1\r\n\r\n"),
  host_not_allowed: async () => await kit.raw("/", { headers: { Host: "evil.example" } }),
  page_not_allowed: async () =>
    await kit.post(kit.path("/v1/routing/access"), {}, { Origin: "https://evil.example" }),
  request_timeout: async () => {
    const connectionLimits = { connections: 10, headersMs: 100, requestMs: 100 };
    await using impatient = await TestKit.open({ seed: "impatient", connectionLimits });
    const answer = await exchange(impatient.base, "GET / HTTP/1.1\r\n");
    await expectProblem(answer, "request_timeout", impatient.sandbox.description.urls.docs);
    return answer;
  },
  expectation_unsupported: async () => await kit.raw("/", { headers: { Expect: "200-ok" } }),
  headers_too_large: async () =>
    await exchange(kit.base, `GET / HTTP/1.1\r\nX: ${"x".repeat(20_000)}\r\n\r\n`),
  transfer_encoding_unsupported: async () =>
    await kit.raw("/", { method: "POST", headers: { "Transfer-Encoding": "gzip, chunked" }, body: "{}" }),
  idempotency_key_missing: async () =>
    await kit.raw(kit.path("/merchants"), {
      method: "POST",
      headers: { Authorization: `Bearer ${kit.credential}`, "Content-Type": "application/json" },
      body: JSON.stringify(wallet()),
    }),
  idempotency_key_invalid: async () =>
    await kit.post(kit.path("/merchants"), wallet(), { "Idempotency-Key": "short" }),
  body_malformed: async () => await kit.post(kit.path("/merchants"), "{"),
  credential_malformed: async () => await kit.raw(kit.path(""), { headers: { Authorization: "Bearer" } }),
  credential_missing: async () => await kit.raw(kit.path("")),
  credential_invalid: async () =>
    await kit.raw(kit.path(""), { headers: { Authorization: "Bearer rsc_unknown" } }),
  credential_expired: async () => {
    await kit.sandbox.clock.travel({ days: 7 });
    return await kit.get(kit.path(""));
  },
  credential_revoked: async () => {
    const { credential } = kit;
    await kit.renew();
    return await kit.raw(kit.path(""), { headers: { Authorization: `Bearer ${credential}` } });
  },
  scope_missing: async () => {
    await kit.renew(["records:read"]);
    return await kit.post(kit.path("/merchants"), wallet());
  },
  program_mismatch: async () => await kit.get("/v1/routing/programs/prg_other"),
  receiver_not_pinned: async () =>
    await kit.raw("/v1/routing/notification-receiver", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: "{}",
    }),
  reviewer_not_designated: async () => {
    const { purchase, claim, path } = await claimed();
    return await kit.post(`${path}/decisions`, kit.decision(purchase, claim, { reviewer_key_id: "another" }));
  },
  not_found: async () => await kit.get(kit.path(`/purchases/pur_${unknownId}`)),
  route_not_found: async () => await kit.get("/v1/routing/nothing"),
  method_not_allowed: async () => await kit.raw("/v1/routing/capabilities", { method: "DELETE" }),
  idempotency_in_flight: async () => {
    await using impatient = await TestKit.open({
      seed: "impatient",
      receiptTimeoutMs: 50,
      receiverUrl: receiver.url,
    });
    const { deliver, first, release } = await holdDelivery(impatient, receiver);
    const meanwhile = await deliver();
    release();
    await first;
    await expectProblem(meanwhile, "idempotency_in_flight", impatient.sandbox.description.urls.docs);
    return meanwhile;
  },
  state_conflict: async () => {
    const purchase = await kit.activePurchase(merchant);
    return await activate(kit, purchase);
  },
  merchant_not_enrolled: async () => {
    const { id } = await kit.createMerchant("1000", "other_merchant");
    return await kit.post(kit.path("/purchases"), {
      merchant_id: id,
      buyer: kit.wallet("buyer").address,
      amount: "1000",
      terms: {},
    });
  },
  transaction_not_found: async () => {
    const { id } = await kit.createPurchase(merchant);
    return await kit.post(kit.path(`/purchases/${id}/registration`), { transaction_hash: hashOfNothing });
  },
  transaction_unconfirmed: async () => {
    const { id } = await kit.createPurchase(merchant);
    const { transaction } = await kit.action("purchase", id, "register");
    if (transaction === undefined) throw new Error("register must be offered.");
    await kit.sandbox.chain.client.setAutomine(false);
    const transaction_hash = await kit.wallet("merchant").submit(transaction);
    const answer = await kit.post(kit.path(`/purchases/${id}/registration`), { transaction_hash });
    await kit.sandbox.chain.client.mine({ blocks: 1 });
    await kit.sandbox.chain.client.setAutomine(true);
    return answer;
  },
  transaction_already_used: async () => {
    // No transaction can be right for two steps; so the record says that another step has used it.
    const { id } = await kit.createPurchase(merchant);
    const transaction_hash = await kit.act("merchant", "purchase", id, "register");
    await kit.sandbox.store.commit([], () => [
      {
        kind: "insert",
        collection: "used_transactions",
        key: transaction_hash,
        value: { step: "claim", subject: `pur_${unknownId}` },
      },
    ]);
    return await kit.post(kit.path(`/purchases/${id}/registration`), { transaction_hash });
  },
  claim_window_closed: async () => {
    const purchase = await kit.paidPurchase(merchant);
    const reason = "Arrived broken.";
    const query = { amount: "10000000", reason };
    const { transaction, sign } = await kit.action("purchase", purchase.id, "claim", query);
    if (transaction === undefined || sign?.method !== "eth_signTypedData_v4")
      throw new Error("No claim is offered.");
    const signature = await kit.wallet("beneficiary").signTypedData(sign.typed_data);
    await kit.sandbox.clock.travelTo(purchase.deadlines.claim_deadline + 1);
    const { transaction_hash: transactionHash } = await kit.wallet("beneficiary").send(transaction);
    await kit.renew();
    const body = { transaction_hash: transactionHash, requested_amount: query.amount, reason, signature };
    return await kit.post(kit.path(`/purchases/${purchase.id}/claims`), body);
  },
  deadline_passed: async () => {
    const purchase = await kit.createPurchase(merchant);
    await kit.sandbox.clock.travelTo(purchase.deadlines.offer_deadline + 1);
    return await activate(kit, purchase);
  },
  registrar_bound_exceeded: async () =>
    await activate(kit, await kit.createPurchase(merchant, { amount: "100000000001" })),
  gas_budget_exceeded: async () => {
    await using poor = await TestKit.open({ seed: "poor", gasBudgetWei: 0n });
    const answer = await activate(poor, await poor.createPurchase(await poor.enrolledMerchant()));
    const { required_wei, available_wei } = problem(answer);
    expect(available_wei).toBe("0");
    expect(BigInt(required_wei ?? 0)).toBeGreaterThan(0n);
    await expectProblem(answer, "gas_budget_exceeded", poor.sandbox.description.urls.docs);
    return answer;
  },
  funding_source_insufficient: async () => {
    const { purchase, claim, path } = await claimed();
    const decision = await kit.post(`${path}/decisions`, kit.decision(purchase, claim));
    return await kit.post(`${path}/refunds`, { decision_id: JSON.parse(decision.text).id });
  },
  outbox_empty: async () => {
    while ((await kit.post(kit.path("/notifications"), {})).status === 200);
    const answer = await kit.post(kit.path("/notifications"), {});
    expect(problem(answer).detail).toBe("Every event of prg_demo has been delivered or exhausted.");
    return answer;
  },
  delivery_exhausted: async () => {
    receiver.answer = (_request, response) => response.writeHead(500).end();
    const first = await kit.post(kit.path("/notifications"), {});
    const { notification } = JSON.parse(first.text);
    expect(notification).toMatchObject({ status: "exhausted", attempts: { length: 5 } });
    return await kit.post(kit.path("/notifications"), { event_id: notification.event_id });
  },
  approval_replayed: async () => {
    const { purchase, claim, path } = await claimed();
    const body = kit.decision(purchase, claim);
    expect((await kit.post(`${path}/decisions`, body)).status).toBe(201);
    return await kit.post(`${path}/decisions`, body);
  },
  outcome_unknown: async () => {
    const purchase = await kit.createPurchase(merchant);
    await kit.sandbox.faults.set({ layer: "relayer", point: "broadcast", action: "foreign_nonce" });
    return await activate(kit, purchase);
  },
  body_too_large: async () => await kit.post(kit.path("/merchants"), "x".repeat(32_769)),
  content_type_unsupported: async () =>
    await kit.post(kit.path("/merchants"), wallet(), { "Content-Type": "text/plain" }),
  content_encoding_unsupported: async () =>
    await kit.post(kit.path("/merchants"), wallet(), { "Content-Encoding": "gzip" }),
  idempotency_key_reused: async () => {
    const key = { "Idempotency-Key": "merchant-1" };
    await kit.post(kit.path("/merchants"), wallet(), key);
    return await kit.post(kit.path("/merchants"), { ...wallet(), name: "Other" }, key);
  },
  validation_failed: async () => await kit.post(kit.path("/merchants"), {}),
  signature_invalid: async () => {
    const purchase = await kit.paidPurchase(merchant);
    const body = await kit.claimBody(purchase);
    const signature = `0x${"00".repeat(65)}`;
    return await kit.post(kit.path(`/purchases/${purchase.id}/claims`), { ...body, signature });
  },
  signer_mismatch: async () => {
    const purchase = await kit.paidPurchase(merchant);
    const query = { amount: "10000000", reason: "Arrived broken." };
    const { sign } = await kit.action("purchase", purchase.id, "claim", query);
    if (sign?.method !== "eth_signTypedData_v4") throw new Error("A claim is signed as typed data.");
    const body = await kit.claimBody(purchase);
    const signature = await kit.wallet("stranger").signTypedData(sign.typed_data);
    return await kit.post(kit.path(`/purchases/${purchase.id}/claims`), { ...body, signature });
  },
  commitment_mismatch: async () => {
    const { id, commitment } = await kit.createPurchase(merchant);
    const answer = await kit.post(kit.path(`/purchases/${id}/activate`), {
      commitment_hash: hashOfNothing,
    });
    expect(problem(answer)).toMatchObject({
      detail: `The commitment_hash is not that of ${id}. Send its commitment.hash, ${commitment.hash}.`,
      errors: [
        { pointer: "/commitment_hash", code: "commitment_mismatch", detail: `must be ${commitment.hash}` },
      ],
    });
    expect(problem(answer).binding).toBeUndefined();
    return answer;
  },
  binding_mismatch: async () => {
    const { id } = await kit.createPurchase(merchant);
    const { transaction } = await kit.action("purchase", id, "register");
    if (transaction === undefined) throw new Error("register must be offered.");
    const { transaction_hash: transactionHash } = await kit.wallet("stranger").send(transaction);
    return await kit.post(kit.path(`/purchases/${id}/registration`), {
      transaction_hash: transactionHash,
    });
  },
  transaction_reverted: async () => {
    const purchase = await kit.activePurchase(merchant);
    // Without an approval before it.
    const pay = payCall(kit.sandbox.description.contracts.registrar, purchase.commitment.hash, 25_000_000n);
    const {
      transaction_hash: transactionHash,
      receipt: { status },
    } = await kit.wallet("buyer").send(pay);
    expect(status).toBe("reverted");
    return await kit.post(kit.path(`/purchases/${purchase.id}/reconcile`), {
      transaction_hashes: [transactionHash],
    });
  },
  timestamp_out_of_tolerance: async () => {
    await using delivered = await openDelivered();
    await delivered.receiving.sandbox.clock.travel({ seconds: 302 });
    return await delivered.resend("timestamp_out_of_tolerance");
  },
  event_mismatch: async () => {
    await using delivered = await openDelivered();
    // Signed by the service, but of an event that this outbox no longer has.
    await delivered.start.restore();
    return await delivered.resend("event_mismatch");
  },
  rate_limited: async () => {
    await using limited = await TestKit.open({ seed: "limited", rateLimit: { requests: 2, seconds: 60 } });
    await limited.get(limited.path(""));
    await limited.get(limited.path(""));
    const answer = await limited.get(limited.path(""));
    expect(Number(answer.headers["retry-after"])).toBeGreaterThan(0);
    await expectProblem(answer, "rate_limited", limited.sandbox.description.urls.docs);
    return answer;
  },
  internal_error: async () => {
    // A record that no version ever wrote.
    const { id } = await kit.createPurchase(merchant);
    const image = structuredClone(await kit.sandbox.store.export());
    const damaged = JSON.parse(JSON.stringify(image).replaceAll('"salt":', '"pepper":'));
    await kit.sandbox.store.import(damaged);
    return await kit.get(kit.path(`/purchases/${id}`));
  },
  service_starting: async () => {
    const docsUrl = kit.sandbox.description.urls.docs;
    const listener = await listen({ port: 0, option: "--port", pages: pagesOf.control, docsUrl });
    const answer = await exchange(
      listener.url,
      `GET / HTTP/1.1\r\nHost: ${new URL(listener.url).host}\r\n\r\n`,
    );
    await listener.close();
    expect(answer.headers["retry-after"]).toBe("1");
    return answer;
  },
  service_closing: async () => {
    await using receiver = await openReceiver();
    receiver.answer = () => {};
    await using closing = await TestKit.open({ seed: "closing", receiverUrl: receiver.url });
    const { docs } = closing.sandbox.description.urls;
    const { event_id } = await closing.createMerchant();
    const asked = closing.post(closing.path("/notifications"), { event_id });
    await expect.poll(() => receiver.received.length).toBe(1);
    const [answer] = await Promise.all([asked, closing.sandbox.close()]);
    expect(answer.headers["retry-after"]).toBe("1");
    // The host of its documentation is closed by now; another sandbox's has the same page.
    return { ...answer, text: answer.text.replaceAll(docs, kit.sandbox.description.urls.docs) };
  },
  rpc_unavailable: async () => {
    await using alone = await TestKit.open({ seed: "alone" });
    await alone.sandbox.chain.anvil.stop();
    const answer = await alone.get(alone.path(""));
    expect(answer.headers["retry-after"]).toBe("1");
    await expectProblem(answer, "rpc_unavailable", alone.sandbox.description.urls.docs);
    return answer;
  },
  chain_mismatch: async () => {
    await using swapped = await TestKit.open({ seed: "swapped" });
    const purchase = await swapped.createPurchase(await swapped.enrolledMerchant());
    const call = { jsonrpc: "2.0", id: 1, method: "anvil_setChainId", params: [4242] };
    await fetch(swapped.sandbox.chain.anvil.url, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(call),
    });
    const path = swapped.path(`/purchases/${purchase.id}/registration`);
    const answer = await swapped.post(path, { transaction_hash: hashOfNothing });
    await expectProblem(answer, "chain_mismatch", swapped.sandbox.description.urls.docs);
    return answer;
  },
};

const own = new Set<ErrorCode>([
  "gas_budget_exceeded",
  "timestamp_out_of_tolerance",
  "event_mismatch",
  "rate_limited",
  "rpc_unavailable",
  "chain_mismatch",
  "request_timeout",
  "idempotency_in_flight",
]);

// Linux with util-linux; elsewhere no file of a running process can be limited.
const hasPrlimit = spawnSync("prlimit", ["--version"]).status === 0;

describe("every code of the catalogue is met over HTTP", () => {
  test.each(Object.entries(scenarios))("%s", async (name, meet) => {
    const code = errorCodes.find((one) => one === name);
    if (code === undefined) throw new Error(`${name} is no code.`);
    const answer = await meet();
    if (!own.has(code)) await expectProblem(answer, code);
    expect(problem(answer).code).toBe(code);
  });

  // Where files cannot grow, nothing can be made durable.
  test.runIf(hasPrlimit)("storage_unavailable", async () => {
    const folder = await temporaryFolder();
    await using started = await startSandbox(folder);
    const { urls, accounts, pid } = started.description;
    const limit = async (bytes: string) =>
      await promisify(execFile)("prlimit", [`--pid=${pid}`, `--fsize=${bytes}:unlimited`]);
    const issue = async () => {
      const response = await fetch(`${urls.api}/v1/routing/access`, {
        method: "POST",
        headers: { Authorization: `Bearer ${accounts[0]?.key}`, "Content-Type": "application/json" },
        body: "{}",
      });
      const text = await response.text();
      return { status: response.status, headers: Object.fromEntries(response.headers), text };
    };
    const first = present({ data: await issue() });
    expect(first.status).toBe(201);
    await limit("1");
    const refused = await issue();
    await expectProblem(refused, "storage_unavailable", urls.docs);
    for (const [path, body] of [
      ["/given", { merchant: { state: "pending", wallet: "stranger" } }],
      ["/requests", { method: "GET", path: "/v1/routing/programs/prg_demo" }],
    ] as const) {
      const response = await fetch(`${urls.control}${path}`, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify(body),
      });
      expect([response.status, await response.json()]).toMatchObject([503, { code: "storage_unavailable" }]);
    }
    const { credential } = JSON.parse(first.text);
    const kept = await fetch(`${urls.api}/v1/routing/programs/prg_demo`, {
      headers: { Authorization: `Bearer ${credential}` },
    });
    expect(kept.status).toBe(200);
    await limit("unlimited");
    expect((await issue()).status).toBe(201);
  });

  test("and none was left out", () => {
    const left = hasPrlimit ? [] : ["storage_unavailable"];
    expect([...met, ...left].sort()).toEqual([...errorCodes].sort());
  });
});
