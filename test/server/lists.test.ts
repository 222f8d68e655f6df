import { beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { present, problem } from "../kit/answer.ts";
import { TestKit } from "../kit/test-kit.ts";

const other = "prg_other";
const listed = z.looseObject({
  data: z.array(z.looseObject({ operation_id: z.string().optional(), event_id: z.string().optional() })),
  next_cursor: z.string().nullable(),
});

/** The lists of a program, each with what its items are named by. */
const lists = {
  transactions: { items: 4, keyOf: "operation_id" },
  "notification-receipts": { items: 22, keyOf: "event_id" },
} as const;
type ListName = keyof typeof lists;
const names: ListName[] = ["transactions", "notification-receipts"];

let kit: TestKit;
const credentials = new Map<string, string>();
/** The keys of every item, by list and program, oldest first. */
const keys = new Map<string, string[]>();

beforeAll(async () => {
  kit = await TestKit.shared();
  credentials.set(kit.program, kit.credential);
  credentials.set(other, (await kit.issue(kit.otherAccountKey)).credential);
  const merchant = await kit.enrolledMerchant();
  for (let count = 0; count < lists.transactions.items; count += 1) await kit.activePurchase(merchant);
  for (let count = 0; count < 20; count += 1) await kit.createMerchant("1000", "other_merchant");
  for (let count = 0; count < lists["notification-receipts"].items; count += 1)
    await write("/notifications", {});
  await activateElsewhere();
  await write("/notifications", {}, other);
  for (const program of [kit.program, other])
    for (const name of names) keys.set(`${name} of ${program}`, await keysOf(name, "?limit=100", program));
});

function pathIn(program: string, below: string): string {
  return `/v1/routing/programs/${program}${below}`;
}

async function write(below: string, body: unknown, program = kit.program): Promise<unknown> {
  const headers = { Authorization: `Bearer ${credentials.get(program)}` };
  const answer = await kit.post(pathIn(program, below), body, headers);
  if (answer.status >= 300) throw new Error(answer.text);
  return JSON.parse(answer.text);
}

/** One active purchase of the other program. */
async function activateElsewhere(): Promise<void> {
  const wallet = kit.wallet("merchant");
  const body = { wallet: wallet.address, name: "Corner Books", funding_cap: "1000000" };
  const created = z
    .object({
      id: z.string(),
      enrollment: z.object({
        message: z.string(),
        transaction: z.object({
          to: z.templateLiteral(["0x", z.string()]),
          data: z.templateLiteral(["0x", z.string()]),
        }),
      }),
    })
    .parse(await write("/merchants", body, other));
  const { transaction, message } = created.enrollment;
  const { transaction_hash: transactionHash } = await wallet.send(transaction);
  const signature = await wallet.signMessage(message);
  await write(`/merchants/${created.id}/enrollment`, { transaction_hash: transactionHash, signature }, other);
  const purchase = z
    .object({ id: z.string(), commitment: z.object({ hash: z.string() }) })
    .parse(
      await write(
        "/purchases",
        { merchant_id: created.id, buyer: kit.wallet("buyer").address, amount: "5", terms: {} },
        other,
      ),
    );
  await write(`/purchases/${purchase.id}/activate`, { commitment_hash: purchase.commitment.hash }, other);
}

async function ask(name: ListName, query = "", program = kit.program) {
  const headers = { Authorization: `Bearer ${credentials.get(program)}` };
  return await kit.raw(pathIn(program, `/${name}${query}`), { headers });
}

async function page(name: ListName, query = "", program = kit.program) {
  const answer = await ask(name, query, program);
  expect(answer.status, answer.text).toBe(200);
  const { data, next_cursor } = listed.parse(JSON.parse(answer.text));
  return { keys: data.map((item) => item[lists[name].keyOf] ?? ""), next_cursor };
}

async function keysOf(name: ListName, query: string, program = kit.program): Promise<string[]> {
  return (await page(name, query, program)).keys;
}

function all(name: ListName, program = kit.program): string[] {
  return keys.get(`${name} of ${program}`) ?? [];
}

describe.each(names)("the list of %s", (name) => {
  const { items } = lists[name];

  test("has only the items of its own program", () => {
    expect([all(name).length, all(name, other).length]).toEqual([items, 1]);
    expect(new Set([...all(name), ...all(name, other)]).size).toBe(items + 1);
  });

  test.each([1, 2, items - 1, items, items + 1])(
    "in pages of %i has every item once and a cursor on every page but the last",
    async (limit) => {
      const pages = [];
      let cursor: string | null = null;
      do {
        const query: string = cursor === null ? `?limit=${limit}` : `?limit=${limit}&cursor=${cursor}`;
        const one: Awaited<ReturnType<typeof page>> = await page(name, query);
        pages.push(one);
        cursor = one.next_cursor;
      } while (cursor !== null);
      expect(pages.flatMap((one) => one.keys)).toEqual(all(name));
      expect(pages.map((one) => one.keys.length)).toEqual(
        Array.from({ length: Math.ceil(items / limit) }, (_, index) =>
          Math.min(limit, items - index * limit),
        ),
      );
      expect(pages.slice(0, -1).map((one) => one.next_cursor)).toEqual(
        pages.slice(0, -1).map((one) => one.keys.at(-1)),
      );
    },
  );

  test("after its last item is empty, and has no cursor", async () => {
    const last = all(name).at(-1);
    expect(await page(name, `?cursor=${last}`)).toEqual({ keys: [], next_cursor: null });
    expect(await page(name, `?cursor=${last}&limit=1`)).toEqual({ keys: [], next_cursor: null });
  });

  test("has 20 items on a page when no limit is named", async () => {
    const { keys: first, next_cursor } = await page(name);
    expect(first).toEqual(all(name).slice(0, 20));
    expect(next_cursor).toBe(items > 20 ? first[19] : null);
  });

  test.each(["1", "9", "10", "99", "100"])("takes a limit of %s", async (limit) => {
    expect((await page(name, `?limit=${limit}`)).keys).toEqual(all(name).slice(0, Number(limit)));
  });

  test.each(["0", "101", "110", "1000", "01", "+1", "-1", "1.0", "1e1", "%201", "1%20", ""])(
    "refuses a limit of %j",
    async (limit) => {
      const answer = await ask(name, `?limit=${limit}`);
      const detail = `must be a number from 1 to 100, not ${JSON.stringify(new URLSearchParams(`limit=${limit}`).get("limit"))}`;
      expect(answer.status).toBe(422);
      expect(problem(answer)).toMatchObject({
        code: "validation_failed",
        detail: `/query/limit ${detail}`,
        errors: [{ pointer: "/query/limit", detail }],
      });
    },
  );

  test.each([
    ["of the other list", () => all(name === "transactions" ? "notification-receipts" : "transactions")[0]],
    ["of the same list of another program", () => all(name, other)[0]],
    ["that is made up", () => all(name)[0]?.replace(/_.*/, "_aaaaaaaaaaaaaaaaaaaa")],
    ["in another case", () => all(name)[0]?.toUpperCase()],
    ["that names something else of the program", () => kit.program],
    ["of 200 characters", () => "a".repeat(200)],
  ])("refuses a cursor %s", async (_, cursor) => {
    const answer = await ask(name, `?cursor=${cursor()}`);
    expect(answer.status).toBe(422);
    expect(problem(answer)).toMatchObject({
      code: "validation_failed",
      detail:
        "The cursor does not belong to this list. Send a next_cursor of an earlier response, or leave cursor out to start at the beginning.",
      errors: [
        {
          pointer: "/query/cursor",
          code: "unknown_cursor",
          detail: "send a next_cursor of an earlier response",
        },
      ],
    });
  });

  test("refuses a cursor of this program in another one, which accepts its own", async () => {
    const answer = await ask(name, `?cursor=${all(name)[0]}`, other);
    expect(answer.status).toBe(422);
    expect(problem(answer).errors).toMatchObject([{ pointer: "/query/cursor", code: "unknown_cursor" }]);
    expect(await page(name, `?cursor=${all(name, other)[0]}`, other)).toEqual({
      keys: [],
      next_cursor: null,
    });
  });

  test.each([
    ["nothing", "", '""'],
    ["a space", "evt%20a", '"evt a"'],
    ["201 characters", "a".repeat(201), `"${"a".repeat(78)}…`],
  ])("refuses %s as a cursor by its form", async (_, cursor, shown) => {
    const answer = await ask(name, `?cursor=${cursor}`);
    expect(answer.status).toBe(422);
    expect(problem(answer)).toMatchObject({
      code: "validation_failed",
      errors: [
        { pointer: "/query/cursor", detail: `must be a next_cursor of an earlier response, not ${shown}` },
      ],
    });
  });
});

test("transactions of a status come in pages that end with it, from any transaction on", async () => {
  const transactions = all("transactions");
  expect(await page("transactions", "?status=confirmed&limit=4")).toEqual({
    keys: transactions,
    next_cursor: null,
  });
  expect(await page("transactions", "?status=confirmed&limit=3")).toEqual({
    keys: transactions.slice(0, 3),
    next_cursor: transactions[2],
  });
  expect(await page("transactions", `?status=failed&cursor=${transactions[0]}`)).toEqual({
    keys: [],
    next_cursor: null,
  });
});

test("a list of a program without items is empty, and has no cursor", async () => {
  await using empty = await TestKit.open({ seed: "empty" });
  for (const path of ["/transactions", "/notification-receipts"] as const)
    expect(
      present(
        await empty.api.GET(`/v1/routing/programs/{program}${path}`, {
          params: { path: { program: empty.program } },
        }),
      ),
    ).toMatchObject({ data: [], next_cursor: null });
});
