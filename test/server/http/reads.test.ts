import { beforeAll, describe, expect, test } from "vitest";
import { operations } from "../../../server/operations.ts";
import { present, problem, type Schema } from "../../kit/answer.ts";
import { TestKit } from "../../kit/test-kit.ts";

let kit: TestKit;
let purchase: Schema<"Purchase">;

beforeAll(async () => {
  kit = await TestKit.shared();
  const merchant = await kit.enrolledMerchant();
  purchase = await kit.activePurchase(merchant);
  await kit.activePurchase(merchant);
  await kit.activePurchase(merchant);
  for (let sent = 0; sent < 5; sent += 1) await kit.post(kit.path("/notifications"), {});
});

const reads = operations.filter(({ method }) => method === "get");

function pathOf(path: string): string {
  return path
    .replace("{program}", kit.program)
    .replace("{id}", path.includes("merchant") ? purchase.merchant_id : purchase.id);
}

test.each(reads.map(({ id, path }) => [id, path]))(
  "%s changes nothing, and HEAD is GET without a body",
  async (_, path) => {
    const { client } = kit.sandbox.chain;
    const before = [await kit.digest(), await client.getBlockNumber()];
    const got = await kit.get(pathOf(path));
    const headed = await kit.raw(pathOf(path), {
      method: "HEAD",
      headers: { Authorization: `Bearer ${kit.credential}` },
    });
    expect([got.status, headed.status]).toEqual([200, 200]);
    expect(headed.text).toBe("");
    expect(headed.headers["content-type"]).toBe(got.headers["content-type"]);
    expect(headed.headers["content-length"]).toBe(String(Buffer.byteLength(got.text)));
    expect(got.headers["cache-control"]).toBe("no-store");
    expect([await kit.digest(), await client.getBlockNumber()]).toEqual(before);
  },
);

describe("405 names what is allowed", () => {
  const allowed = new Map<string, string[]>();
  for (const { path, method } of operations)
    allowed.set(path, [...(allowed.get(path) ?? []), ...(method === "get" ? ["GET", "HEAD"] : ["POST"])]);

  test.each([...allowed])("at %s", async (path, methods) => {
    for (const method of ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"].filter(
      (one) => !methods.includes(one),
    )) {
      const answer = await kit.raw(pathOf(path), { method });
      expect(answer.status, method).toBe(405);
      expect(answer.headers["allow"]).toBe(methods.join(", "));
      expect(problem(answer).code).toBe("method_not_allowed");
    }
  });
});

test.each([
  "/v1",
  "/v1/routing",
  "/v1/routing/capabilities/",
  "/V1/routing/capabilities",
  "/v1/routing/programs//purchases",
  "/v1/routing/programs/%E0%A4%A/purchases",
  "/wallet/prg_demo/refund/ref_aaaaaaaaaaaaaaaaaaaa",
  "/index.json/",
])("there is nothing at %s", async (path) => {
  const answer = await kit.get(path);
  expect(answer.status).toBe(404);
  expect(problem(answer).code).toBe("route_not_found");
});

test.each([
  "pur_AAAA",
  "mer_aaaaaaaaaaaaaaaaaaaa",
  "__proto__",
  "..%2F..",
  "%00",
  "constructor",
  "x".repeat(3000),
])("the purchase %s is not found, like any other that is not there", async (id) => {
  const answer = await kit.get(kit.path(`/purchases/${id}`));
  expect(answer.status).toBe(404);
  expect(problem(answer).code).toBe("not_found");
});

test("a purchase of another program is not found, like an unknown one", async () => {
  const { credential } = await kit.issue(kit.otherAccountKey);
  const headers = { Authorization: `Bearer ${credential}` };
  const answer = await kit.raw(`/v1/routing/programs/prg_other/purchases/${purchase.id}`, { headers });
  expect(problem(answer).code).toBe("not_found");
});

test("the program in the path is read, and an unknown program is not found", async () => {
  const { credential } = await kit.issue(kit.otherAccountKey);
  const [own, other] = [
    await kit.get(kit.path("")),
    await kit.raw("/v1/routing/programs/prg_other", {
      headers: { Authorization: `Bearer ${credential}` },
    }),
  ];
  const [demo, elsewhere]: Schema<"Program">[] = [JSON.parse(own.text), JSON.parse(other.text)];
  expect([demo?.id, elsewhere?.id]).toEqual(["prg_demo", "prg_other"]);
  expect(demo?.keys.commitment_signer).not.toBe(elsewhere?.keys.commitment_signer);
  const nothing = await kit.raw(`/wallet/prg_nothing/purchase/${purchase.id}`);
  expect(nothing.status).toBe(404);
  expect(problem(nothing)).toMatchObject({ code: "not_found", detail: "There is no program prg_nothing." });
});

test.each([
  ["an unknown parameter", "/transactions?page=2", "/query/page"],
  ["an unknown parameter where none is known", "?verbose=1", "/query/verbose"],
  ["a limit of zero", "/transactions?limit=0", "/query/limit"],
  ["a limit above 100", "/transactions?limit=101", "/query/limit"],
  ["a limit that is no number", "/transactions?limit=1e1", "/query/limit"],
  ["a limit sent twice", "/transactions?limit=1&limit=2", "/query/limit"],
  ["a cursor of another list", "/notification-receipts?cursor=evt_aaaaaaaaaaaaaaaaaaaa", "/query/cursor"],
  ["a status that is none", "/transactions?status=done", "/query/status"],
  ["a name that is __proto__", "/transactions?__proto__=1", "/query/__proto__"],
])("%s is refused", async (_, below, pointer) => {
  const answer = await kit.get(kit.path(below));
  expect(answer.status).toBe(422);
  expect(problem(answer)).toMatchObject({ code: "validation_failed", errors: [{ pointer }] });
});

test("the public capabilities refuse an unknown parameter as well", async () => {
  expect((await kit.raw("/v1/routing/capabilities?x=1")).status).toBe(422);
});

describe("a list", () => {
  test("of transactions is given page by page, each once, with the gas budget on every page", async () => {
    const ids: string[] = [];
    let cursor: string | undefined;
    do {
      const page = present(
        await kit.api.GET("/v1/routing/programs/{program}/transactions", {
          params: { path: { program: kit.program }, query: { limit: "2", ...(cursor && { cursor }) } },
        }),
      );
      expect(page.data.length).toBeLessThanOrEqual(2);
      const { limit_wei, available_wei, reserved_wei, spent_wei } = page.gas_budget;
      expect(BigInt(available_wei) + BigInt(reserved_wei) + BigInt(spent_wei)).toBe(BigInt(limit_wei));
      ids.push(...page.data.map(({ operation_id }) => operation_id));
      cursor = page.next_cursor ?? undefined;
    } while (cursor !== undefined);
    expect(new Set(ids).size).toBe(3);
    expect(ids).toHaveLength(3);
  });

  test("of receipts is given page by page, one for each delivered event", async () => {
    const first = present(
      await kit.api.GET("/v1/routing/programs/{program}/notification-receipts", {
        params: { path: { program: kit.program }, query: { limit: "3" } },
      }),
    );
    expect(first.data).toHaveLength(3);
    const second = present(
      await kit.api.GET("/v1/routing/programs/{program}/notification-receipts", {
        params: {
          path: { program: kit.program },
          query: { limit: "3", cursor: String(first.next_cursor) },
        },
      }),
    );
    expect(second.data).toHaveLength(2);
    expect(second.next_cursor).toBeNull();
    expect(new Set([...first.data, ...second.data].map(({ event_id }) => event_id)).size).toBe(5);
  });

  test("of transactions can be limited to one status", async () => {
    const { data } = present(
      await kit.api.GET("/v1/routing/programs/{program}/transactions", {
        params: { path: { program: kit.program }, query: { status: "failed" } },
      }),
    );
    expect(data).toEqual([]);
  });
});

test("every answer has its own request id", async () => {
  const answers = await Promise.all(Array.from({ length: 20 }, async () => await kit.get(kit.path(""))));
  const ids = answers.map(({ headers }) => headers["x-request-id"]);
  expect(new Set(ids).size).toBe(20);
  for (const id of ids) expect(id).toMatch(/^req_[a-z2-7]{20}$/);
});
