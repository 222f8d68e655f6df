import fc from "fast-check";
import { zeroHash } from "viem";
import { expect, test } from "vitest";
import type { CollectionName, OrderingName } from "../../../../server/store/records.ts";
import { collectionNames, orderings } from "../../../../server/store/records.ts";
import type { Change, Stored } from "../../../../server/store/store.ts";
import { MemoryTables } from "../../../../server/store/tables/memory-tables.ts";
import { event, operation, signerOf } from "../contract.ts";

/** The records of a store as one list for each collection, which is searched from its beginning. */
class Model {
  readonly records = new Map<CollectionName, Map<string, Stored<unknown>>>(
    collectionNames.map((name) => [name, new Map()]),
  );

  apply(change: Change): void {
    const records = this.of(change.collection);
    if (change.kind === "delete") {
      records.delete(change.key);
      return;
    }
    const { key, value } = change;
    records.set(key, { key, value, revision: (records.get(key)?.revision ?? 0) + 1 });
  }

  of(collection: CollectionName): Map<string, Stored<unknown>> {
    return this.records.get(collection) ?? new Map();
  }

  list(
    collection: CollectionName,
    filter: object,
    page: { after?: string | undefined; limit?: number; reverse?: boolean },
  ): unknown[] {
    const all = [...this.of(collection).values()];
    if (page.reverse) all.reverse();
    const start = page.after === undefined ? 0 : all.findIndex(({ key }) => key === page.after) + 1;
    if (page.after !== undefined && start === 0) return [];
    const fits = (value: unknown) =>
      Object.entries(filter).every(([field, one]) => fieldOf(value, field) === one);
    return all
      .slice(start)
      .filter(({ value }) => fits(value))
      .slice(0, page.limit);
  }

  ordered(
    name: OrderingName,
    values: readonly string[],
    { from, limit, reverse = false }: { from?: number; limit?: number; reverse?: boolean },
  ): unknown[] {
    const { collection, within, by } = orderings[name];
    const numberIn = (value: unknown) => Number(fieldOf(value, by) ?? Number.NaN);
    const found = [...this.of(collection).values()]
      .filter(({ value }) => within.every((field, at) => fieldOf(value, field) === values[at]))
      .filter(({ value }) => !Number.isNaN(numberIn(value)))
      .filter(({ value }) => {
        if (from === undefined) return true;
        return reverse ? numberIn(value) <= from : numberIn(value) >= from;
      })
      .sort((left, right) => numberIn(left.value) - numberIn(right.value));
    if (reverse) found.reverse();
    return found.slice(0, limit);
  }
}

function fieldOf(value: unknown, field: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, field) : undefined;
}

const program = fc.constantFrom("prg_1", "prg_2", "prg_3");
const delivery = fc.constantFrom("undelivered", "delivered", "exhausted");
const number = fc.integer({ min: 1, max: 12 });
const few = fc.integer({ min: 1, max: 3 });
const page = fc.record(
  { after: number.map((at) => `evt_${at}`), limit: fc.integer({ min: 1, max: 5 }), reverse: fc.boolean() },
  { requiredKeys: [] },
);

/** Puts and deletions of a few records, so that many of them are of the same ones. */
const change: fc.Arbitrary<Change> = fc.oneof(
  fc.tuple(number, program, delivery).map(([at, of, state]): Change => {
    return { ...event(`evt_${at}`, of, at, state), kind: "put" };
  }),
  fc
    .tuple(few, program, fc.constantFrom("accepted", "signed"), fc.boolean())
    .map(([at, of, status, hasNonce]): Change => operation(of, at, status, hasNonce ? at + 10 : null)),
  fc.record({
    kind: fc.constant("put"),
    collection: fc.constant("used_transactions"),
    key: number.map(String),
    value: fc.record({ step: fc.string({ unit: "binary" }), subject: fc.string({ unit: "binary" }) }),
  }),
  number.map((at): Change => {
    return { kind: "delete", collection: "events", key: `evt_${at}` };
  }),
  fc.tuple(few, program).map(([at, of]): Change => {
    return { kind: "delete", collection: "operations", key: `op_${of}_${at}` };
  }),
);
const commits = fc.array(fc.array(change, { minLength: 1, maxLength: 4 }), { maxLength: 60 });

test("tables read as one list of records does, before and after they are written and loaded", () => {
  fc.assert(
    fc.property(commits, fc.array(page, { minLength: 3, maxLength: 3 }), (commits, pages) => {
      const [model, tables] = [new Model(), new MemoryTables()];
      for (const [at, changes] of commits.entries()) {
        for (const change of changes) model.apply(change);
        tables.apply(changes);
        if (at % 8 === 0) expectSame(tables, model, pages);
      }
      expectSame(tables, model, pages);
      const loaded = new MemoryTables();
      loaded.load(tables.contents());
      expectSame(loaded, model, pages);
      expect(loaded.image()).toEqual(tables.image());
    }),
    { numRuns: 300 },
  );
});

test("contents stay as they were while commits continue", () => {
  const tables = new MemoryTables();
  const put = (from: number, to: number, state?: "delivered") => {
    for (let at = from; at < to; at += 1)
      tables.apply([{ ...event(`evt_${at}`, "prg_1", at, state), kind: "put" }]);
  };
  put(0, 40);
  const [contents, image] = [tables.contents(), tables.image()];
  put(5, 30, "delivered");
  tables.apply([{ kind: "delete", collection: "events", key: "evt_1" }]);
  const loaded = new MemoryTables();
  loaded.load(contents);
  expect(loaded.image()).toEqual(image);
});

test("a record that changes to and fro is in each list once, and in none that it has left", () => {
  const tables = new MemoryTables();
  const listed = (delivery: "delivered" | "undelivered") =>
    tables.list("events", { delivery }, {}).map(({ key }) => key);
  for (const delivery of ["undelivered", "delivered", "undelivered", "delivered"] as const)
    for (let at = 0; at < 9; at += 1)
      tables.apply([{ ...event(`evt_${at}`, "prg_1", at, delivery), kind: "put" }]);
  expect(listed("undelivered")).toEqual([]);
  expect(listed("delivered")).toEqual(Array.from({ length: 9 }, (_, at) => `evt_${at}`));
});

test("the newest time that a record names as past is known without reading the records", () => {
  const tables = new MemoryTables();
  const times = [7, 3, 90, 12, 5, 6, 8, 2, 1, 4, 9, 11, 10, 13, 14, 15];
  for (const [at, created_at] of times.entries()) {
    const { value, ...put } = event(`evt_${at}`, "prg_1", at);
    tables.apply([{ ...put, kind: "put", value: { ...value, created_at, ...{ expires_at: 1_000 } } }]);
  }
  const loaded = new MemoryTables();
  loaded.load(tables.contents());
  expect([tables.newestTime, loaded.newestTime]).toEqual([90, 90]);
  const { value, ...put } = event("evt_new", "prg_1", 99);
  loaded.apply([{ ...put, kind: "put", value: { ...value, created_at: 91 } }]);
  expect(loaded.newestTime).toBe(91);
  expect(new MemoryTables().newestTime).toBe(0);
});

function expectSame(tables: MemoryTables, model: Model, pages: Parameters<MemoryTables["list"]>[2][]): void {
  for (const collection of ["events", "operations", "used_transactions"] as const) {
    for (const [key, stored] of model.of(collection)) expect(tables.get(collection, key)).toEqual(stored);
    expect(tables.list(collection, {}, {})).toEqual(model.list(collection, {}, {}));
  }
  expect(tables.get("events", "evt_none")).toBeUndefined();
  for (const [at, page] of [{}, ...pages].entries()) {
    const of = `prg_${(at % 3) + 1}`;
    for (const filter of [{}, { program: of }, { program: of, delivery: "delivered" as const }])
      expect(tables.list("events", filter, page)).toEqual(model.list("events", filter, { ...page }));
    const { after, ...rest } = page;
    const part = { ...rest, ...(after === undefined ? {} : { from: Number(after.split("_")[1]) }) };
    for (const [name, within] of [
      ["operations_by_sequence", [of]],
      ["operations_by_status", [of, "signed"]],
      ["operations_by_nonce", [signerOf(of), zeroHash]],
    ] as const)
      expect(tables.ordered(name, within, part)).toEqual(model.ordered(name, within, part));
  }
}
