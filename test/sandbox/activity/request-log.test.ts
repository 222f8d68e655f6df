import { once } from "node:events";
import { request } from "node:http";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { ChangeFeed } from "../../../sandbox/activity/change-feed.ts";
import { RequestLog } from "../../../sandbox/activity/request-log.ts";
import type { RequestViews } from "../../../sandbox/activity/views.ts";
import type { Sandbox } from "../../../sandbox/create-sandbox.ts";
import type { Snapshot } from "../../../sandbox/snapshots/snapshot.ts";
import { redact } from "../../../server/http/redact.ts";
import { freshSandbox } from "../../kit/fresh-sandbox.ts";

let sandbox: Sandbox;
let start: Snapshot;

beforeAll(async () => {
  sandbox = await freshSandbox();
  start = await sandbox.snapshot();
});

function keyed({ program, id }: { program: string; id: string }, key: string) {
  return { path: { program, id }, header: { "Idempotency-Key": key } };
}

async function read(query = ""): Promise<RequestViews> {
  const response = await fetch(`${sandbox.description.urls.control}/requests${query}`);
  const body: unknown = await response.json();
  if (!response.ok) throw new Error(`${response.status} ${JSON.stringify(body)}`);
  return body as RequestViews;
}

describe("the request log", () => {
  beforeEach(async () => await start.restore());

  test("has a request with body, answer, caller, key, records and the calls to the node, decoded", async () => {
    const { merchant, purchase } = await sandbox.given.purchase({ state: "created" });
    const { data } = await read("?operation=createPurchase");
    expect(data).toHaveLength(1);
    expect(data[0]).toMatchObject({
      operation: "createPurchase",
      method: "POST",
      status: 201,
      replayed: false,
      code: null,
      refusal: null,
      body: { merchant_id: merchant.id, amount: purchase.amount },
      answer: { id: purchase.id },
      caller: expect.stringMatching(/^crd_/),
      idempotency_key: expect.any(String),
      objects: expect.arrayContaining([merchant.id, purchase.id]),
    });
    const calls = data[0]?.calls.map(({ method, call }) => `${method} ${call}`) ?? [];
    expect(calls).toContainEqual(expect.stringMatching(/^eth_call \w+\(.*\) of the registrar contract$/));
  });

  test("has the records of a list in the path and the body only", async () => {
    await sandbox.given.purchase({ state: "active" });
    const params = { path: { program: "prg_demo" } };
    const { data } = await sandbox.client.GET("/v1/routing/programs/{program}/transactions", { params });
    expect(data?.data).toMatchObject([{ kind: "offer" }]);
    expect((await read("?operation=listTransactions")).data).toMatchObject([{ objects: [] }]);
  });

  test("has the records in the body of a refused request", async () => {
    const { merchant } = await sandbox.given.merchant({ state: "enrolled" });
    await sandbox.client.POST("/v1/routing/programs/{program}/purchases", {
      params: { path: { program: "prg_demo" }, header: { "Idempotency-Key": "purchase-1" } },
      body: { merchant_id: merchant.id, buyer: merchant.wallet, amount: "1", terms: {} },
    });
    const { data } = await read("?operation=createPurchase");
    expect(data).toMatchObject([{ status: 422, objects: [merchant.id] }]);
  });

  test("says which client has sent a request", async () => {
    const { merchant } = await sandbox.given.merchant({ state: "pending" });
    await sandbox.client.GET("/v1/routing/programs/{program}", { params: { path: { program: "prg_demo" } } });
    await fetch(merchant.wallet_url, { headers: { Accept: "application/json" } });
    await fetch(`${sandbox.description.urls.api}/v1/routing/capabilities`);
    // As a browser sends it for a page of this host.
    const ofPage = { "Sec-Fetch-Site": "same-origin" };
    await fetch(`${sandbox.description.urls.api}/v1/routing/capabilities`, { headers: ofPage });
    // As a backend, and as the reference sends it.
    for (const headers of [{}, ofPage])
      await fetch(`${sandbox.description.urls.api}/v1/routing/access`, {
        method: "POST",
        headers: { ...headers, Authorization: `Bearer ${sandbox.description.accounts[0]?.key}` },
      });
    const { data } = await read();
    const from = (operation: string) =>
      data.filter((request) => request.operation === operation).map((request) => request.from);
    expect(from("createMerchant")).toEqual(["given"]);
    expect(from("readProgram")).toEqual(["sandbox.client"]);
    expect(from("readMerchantWallet")).toContain("page");
    expect(from("capabilities")).toEqual(["page", "anyone"]);
    expect(from("issueAccess")).toEqual(["page", "backend", "sandbox.client", "given"]);
  });

  test("says of a function of the sandbox that a test calls itself that it is no given state", async () => {
    const { purchase, claim } = await sandbox.given.purchase({ state: "claimed" });
    await sandbox.reviewer.decide(purchase, claim, { award: claim.requested_amount });
    await sandbox.deliverAll();
    await sandbox.given.purchase({ state: "approved" });
    const { data } = await read("?limit=200");
    const from = (operation: string) =>
      data.filter((request) => request.operation === operation).map((request) => request.from);
    expect(from("recordDecision")).toEqual(["given", "sandbox"]);
    expect(new Set(from("deliverNotification"))).toEqual(new Set(["sandbox"]));
  });

  test("never shows a credential or an account key", async () => {
    const [account] = sandbox.description.accounts;
    const response = await fetch(`${sandbox.description.urls.api}/v1/routing/access?key=${account?.key}`, {
      method: "POST",
      headers: { Authorization: `Bearer ${account?.key}`, "Content-Type": "application/json" },
      body: "{}",
    });
    await response.text();
    const issued = await fetch(`${sandbox.description.urls.api}/v1/routing/access`, {
      method: "POST",
      headers: { Authorization: `Bearer ${account?.key}`, "Content-Type": "application/json" },
      body: "{}",
    });
    const { credential } = z.object({ credential: z.string() }).parse(await issued.json());
    await sandbox.client.GET("/v1/routing/programs/{program}", { params: { path: { program: "prg_demo" } } });
    const send = async (path: string, body: string) => {
      const headers = { "Idempotency-Key": `key-${credential}`, "Content-Type": "application/json" };
      await fetch(`${sandbox.description.urls.api}${path}`, { method: "POST", headers, body });
    };
    await send("/v1/routing/access", JSON.stringify({ [`x${credential}`]: credential }));
    await send("/v1/routing/access", `{"a": "\\u0072${credential.slice(1)}"}`);
    const escaped = Buffer.from(credential).toString("hex").replaceAll(/../g, "\\u00$&");
    await fetch(`${sandbox.description.urls.api}/v1/routing/access`, {
      method: "POST",
      headers: { Authorization: `Bearer ${account?.key}`, "Content-Type": "application/json" },
      body: `{"a": "${escaped}"`,
    });
    await send(`/v1/routing/${credential.replace("_", "%5F")}/%ff`, `{"a": ${credential}`);
    await send(`/v1/routing/${credential.replace("_", "%5F")}`, "");
    const log = await read();
    expect(log.data).toHaveLength(9);
    const text = JSON.stringify(log);
    expect(text.match(/rs[ck](?:_|%5f)(?!redacted_[0-9a-f]{8})/i)).toBeNull();
    expect(text).not.toContain(JSON.stringify(escaped).slice(1, -1));
    // Equal ones can be recognized.
    const name = redact(credential);
    expect(log.data.filter(({ idempotency_key }) => idempotency_key === `key-${name}`)).toHaveLength(4);
    expect(log.data.at(-2)).toMatchObject({ answer: { credential: name } });
    const trace = await (await fetch(`${sandbox.description.urls.control}/trace`)).text();
    expect(trace).toContain(name);
    expect(trace).not.toContain(credential.slice(4));
  });

  test("has a refusal with the failed checks first", async () => {
    const { purchase } = await sandbox.given.purchase({ state: "active" });
    const { transaction_hash } = await sandbox.wallets.stranger.approve(purchase);
    await sandbox.client.POST("/v1/routing/programs/{program}/purchases/{id}/reconcile", {
      params: keyed(purchase, "reconcile-1"),
      body: { transaction_hashes: [transaction_hash] },
    });
    const [refused] = (await read(`?status=4xx&purchase=${purchase.id}`)).data;
    expect(refused).toMatchObject({ operation: "reconcilePurchase", status: 422, code: expect.any(String) });
    expect(refused?.refusal?.checks[0]).toMatchObject({ ok: false });
    expect(refused?.answer).toMatchObject({ detail: refused?.refusal?.detail });
  });

  test("is read in pages by cursor, and from a number on", async () => {
    await sandbox.given.purchase({ state: "active" });
    const first = await read("?limit=2");
    expect(first.data).toHaveLength(2);
    const second = await read(`?limit=2&cursor=${first.next_cursor}`);
    const [a, b, c] = [...first.data, ...second.data].map(({ number }) => number);
    expect([b, c]).toEqual([Number(a) - 1, Number(a) - 2]);
    expect((await read(`?after=${c}`)).data.map(({ number }) => number)).toEqual([b, a]);
    await expect(read("?status=teapot")).rejects.toThrow("must be a status such as 409, a class such as 4xx");
  });

  test("is found by the id of a request, and sorted by duration", async () => {
    await sandbox.given.purchase({ state: "active" });
    const { data } = await read();
    expect((await read(`?purchase=${data[1]?.id}`)).data).toEqual([data[1]]);
    const slowest = await read("?order=slowest&limit=3");
    const durations = data.map(({ duration_ms }) => duration_ms).toSorted((a, b) => b - a);
    expect(slowest.data.map(({ duration_ms }) => duration_ms)).toEqual(durations.slice(0, 3));
    expect(slowest.next_cursor).toBeNull();
  });

  test("has an answer that a fault dropped as lost", async () => {
    const { purchase } = await sandbox.given.purchase({ state: "created" });
    await sandbox.faults.set("answer-lost", { operation: "activatePurchase" });
    const body = { commitment_hash: purchase.commitment.hash };
    await sandbox.client
      .POST("/v1/routing/programs/{program}/purchases/{id}/activate", {
        params: keyed(purchase, "activate-1"),
        body,
      })
      .catch(() => undefined);
    const { data } = await read("?status=lost");
    expect(data).toMatchObject([{ operation: "activatePurchase", status: null, answer: null }]);
  });

  test("has a request without an answer as in progress", async () => {
    const { accounts, urls } = sandbox.description;
    const sent = request(`${urls.api}/v1/routing/access`, {
      method: "POST",
      headers: {
        Authorization: `Bearer ${accounts[0]?.key}`,
        "Content-Type": "application/json",
        Expect: "100-continue",
      },
    });
    // The API has read the head by then, and waits for the body.
    await once(sent, "continue");
    expect(await read()).toMatchObject({
      data: [],
      in_progress: [{ method: "POST", path: "/v1/routing/access" }],
    });
    const metrics = await fetch(`${urls.control}/metrics`);
    expect(await metrics.text()).toContain("\nrouting_sandbox_requests_in_progress 1\n");
    sent.end("{}");
    const [response] = await once(sent, "response");
    await once(response.resume(), "end");
    expect(await read()).toMatchObject({ data: [{ status: 201 }], in_progress: [] });
  });

  test("is empty after a restore, and continues to count", async () => {
    await sandbox.given.purchase({ state: "created" });
    const before = (await read()).data[0]?.number ?? 0;
    await start.restore();
    expect((await read()).data).toEqual([]);
    await sandbox.given.purchase({ state: "created" });
    expect((await read()).data.at(-1)?.number).toBe(before + 1);
  });
});

test("a request log keeps a bounded number of requests and bytes, the newest ones", () => {
  const log = new RequestLog(new ChangeFeed());
  const answered = (body: Buffer | null, answer: string) => ({
    request_id: "req_1",
    method: "GET",
    path: "/",
    operation: null,
    caller: "anyone",
    idempotency_key: null,
    at: null,
    body,
    status: 200,
    code: null,
    replayed: false,
    answer,
  });
  for (let count = 0; count < 2_500; count += 1) log.answered(answered(null, "{}"));
  expect(log.newest()).toHaveLength(1_000);
  expect(log.newest()[0]?.number).toBe(2_500);
  const large = "x".repeat(1024 * 1024);
  for (let count = 0; count < 20; count += 1) log.answered(answered(Buffer.from(large), "{}"));
  expect(log.newest()).toHaveLength(7);
  expect(log.newest()[0]?.number).toBe(2_520);
});
