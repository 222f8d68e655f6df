import { setImmediate as nextTurn } from "node:timers/promises";
import { type Address, zeroAddress, zeroHash } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { BudgetRecord } from "../../../relayer/journal/relayer-journal.ts";
import type { RelayOperationStatus } from "../../../relayer/relayer.ts";
import type { EventRecord } from "../../../server/store/records.ts";
import type { Filter, Store } from "../../../server/store/store.ts";
import { relayOperation } from "../../kit/relay-operation.ts";
import { purchaseRecord } from "./purchase-record.ts";

/** A store that the promises are tested on, and a way to leave and come back to what it keeps. */
export interface OpenedStore {
  store: Store;
  /** Closes it and opens it again; null for one that keeps nothing. */
  reopen: (() => Promise<Store>) | null;
  close: () => Promise<void>;
}

/** Tests every promise of {@link Store} on one implementation. */
// Long: a list of tests, as in a callback of describe.
export function testStore(open: () => Promise<OpenedStore>): void {
  let opened: OpenedStore;
  let store: Store;
  let last = 0;
  const fresh = () => {
    last += 1;
    return `prg_${last}`;
  };

  beforeAll(async () => {
    opened = await open();
    store = opened.store;
  });
  afterAll(async () => {
    await opened.close();
  });

  test("a record is read as it was written, to the last character", async () => {
    const step = `"quotes' \\ ; -- \n\t\0 \u2028 ü 🦊 \ud800`;
    const terms = { z: 1, a: { "10": [], "9": null, "": "" }, __proto_: 1e21, n: -0.5 };
    const value = { ...purchase, terms };
    await store.commit([], () => [
      { kind: "insert", collection: "used_transactions", key: step, value: { step, subject: "" } },
      { kind: "insert", collection: "purchases", key: "pur_exact", value },
    ]);
    const read = await store.get("used_transactions", step);
    expect(read).toEqual({ key: step, value: { step, subject: "" }, revision: 1 });
    const kept = await store.get("purchases", "pur_exact");
    expect(JSON.stringify(kept?.value)).toBe(JSON.stringify(value));
    expect(await store.get("purchases", "pur_none")).toBeUndefined();
    expect(await store.get("purchases", "\0")).toBeUndefined();
  });

  test("revisions count changes, and a change of another revision is refused", async () => {
    const key = fresh();
    await store.commit([], () => [budget("insert", key, "1")]);
    await store.commit([], () => [{ ...budget("insert", key, "2"), kind: "update", revision: 1 }]);
    await store.commit([], () => [budget("put", key, "3")]);
    expect(await store.get("budgets", key)).toMatchObject({ revision: 3, value: { limit_wei: "3" } });
    const conflict = { name: "StoreConflictError", collection: "budgets", key };
    for (const revision of [2, 4])
      await expect(
        (async () =>
          await store.commit([], () => [{ ...budget("insert", key, "x"), kind: "update", revision }]))(),
      ).rejects.toMatchObject(conflict);
    await expect(
      (async () => await store.commit([], () => [budget("insert", key, "x")]))(),
    ).rejects.toMatchObject(conflict);
    for (const revision of [2, 4])
      await expect(
        (async () =>
          await store.commit([], () => [{ kind: "delete", collection: "budgets", key, revision }]))(),
      ).rejects.toMatchObject(conflict);
    await store.commit([], () => [{ kind: "delete", collection: "budgets", key, revision: 3 }]);
    expect(await store.get("budgets", key)).toBeUndefined();
    await store.commit([], () => [{ kind: "delete", collection: "budgets", key }]);
    await store.commit([], () => [budget("insert", key, "4")]);
    expect(await store.get("budgets", key)).toMatchObject({ revision: 1, value: { limit_wei: "4" } });
  });

  test("a batch with one conflict writes nothing, and its counters do not move", async () => {
    const [key, other] = [fresh(), fresh()];
    const counter = `outbox/${key}`;
    await store.commit([counter], ([number]) => [budget("insert", key, String(number))]);
    const refused = async () =>
      await store.commit([counter], () => [budget("put", other, "1"), budget("insert", key, "2")]);
    await expect(refused()).rejects.toThrow("was changed in between");
    expect(await store.get("budgets", other)).toBeUndefined();
    await store.commit([counter], ([number]) => [budget("put", other, String(number))]);
    expect((await store.get("budgets", other))?.value.limit_wei).toBe("2");
  });

  test("of many commits at once on one revision, exactly one succeeds", async () => {
    const key = fresh();
    await store.commit([], () => [budget("insert", key, "0")]);
    for (let revision = 1; revision <= 3; revision += 1) {
      const tries = Array.from({ length: 20 }, async (_, index) => {
        await store.commit([], () => [
          { ...budget("insert", key, String(index)), kind: "update", revision },
          { ...event(`${key}/${revision}/${index}`, key, index), kind: "insert" },
        ]);
      });
      const outcomes = await Promise.allSettled(tries);
      const won = outcomes.flatMap(({ status }, index) => (status === "fulfilled" ? [index] : []));
      expect(won).toHaveLength(1);
      expect(await store.get("budgets", key)).toMatchObject({
        revision: revision + 1,
        value: { limit_wei: String(won[0]) },
      });
    }
    expect(await store.list("events", { program: key })).toHaveLength(3);
  });

  test("a commit that loses to another commit can read that commit as soon as it is refused", async () => {
    const key = fresh();
    await store.commit([], () => [budget("insert", key, "0")]);
    const tries = Array.from({ length: 10 }, async (_, index) => {
      try {
        await store.commit([], () => [
          { ...budget("insert", key, String(index + 1)), kind: "update", revision: 1 },
        ]);
        return { won: index + 1, read: null };
      } catch {
        return { won: null, read: Number((await store.get("budgets", key))?.value.limit_wei) };
      }
    });
    const outcomes = await Promise.all(tries);
    const [winner] = outcomes.flatMap(({ won }) => won ?? []);
    expect(outcomes.flatMap(({ read }) => read ?? [])).toEqual(Array.from({ length: 9 }, () => winner));
  });

  test("during commits, a list has each commit completely or not at all, and loses none", {
    tags: "thorough",
  }, async () => {
    const [left, right] = [fresh(), fresh()];
    let underWay = true;
    const writing = (async () => {
      for (let number = 1; number <= 50; number += 1)
        await store.commit([], () => [
          budget("put", left, String(number)),
          budget("put", right, String(number)),
        ]);
      underWay = false;
    })();
    const look = async () => {
      const all = await store.list("budgets", {});
      return [left, right].map((one) => Number(all.find(({ key }) => key === one)?.value.limit_wei ?? 0));
    };
    const seen: number[] = [];
    while (underWay) {
      const [one, other] = await look();
      expect(one).toBe(other);
      seen.push(one ?? 0);
      await nextTurn();
    }
    await writing;
    expect(seen).toEqual(seen.toSorted((one, other) => one - other));
    expect(await look()).toEqual([50, 50]);
  });

  test("counters have no gaps and no duplicates, however many commits count at once", async () => {
    const program = fresh();
    const counter = `outbox/${program}`;
    const commits = Array.from({ length: 40 }, async (_, index) => {
      await store.commit([counter], ([sequence = 0]) => [
        event(`${program}/${sequence}`, program, sequence),
        // Every fourth one is refused.
        ...(index % 4 === 3
          ? [{ ...event("taken", program, 0), kind: "update", revision: 99 } as const]
          : []),
      ]);
    });
    await Promise.allSettled(commits);
    const sequences = (await store.list("events", { program })).map(({ value }) => value.sequence);
    expect(sequences).toEqual(Array.from({ length: 30 }, (_, index) => index + 1));
    const numbers = await Promise.all(Array.from({ length: 20 }, async () => await store.next(program)));
    expect(new Set(numbers).size).toBe(20);
    expect(Math.min(...numbers)).toBe(1);
  });

  test("lists keep the order of insertion after later changes, page by page and from both ends", async () => {
    const program = fresh();
    for (let index = 1; index <= 5; index += 1)
      await store.commit([], () => [event(`${program}/${6 - index}`, program, index)]);
    await store.commit([], () => [{ ...event(`${program}/5`, program, 1, "delivered"), kind: "put" }]);
    const keys = async (filter: Filter<"events">, page?: Parameters<Store["list"]>[2]) =>
      (await store.list("events", filter, page)).map(({ key }) => Number(key.split("/")[1]));
    expect(await keys({ program })).toEqual([5, 4, 3, 2, 1]);
    expect(await keys({ program }, { limit: 2 })).toEqual([5, 4]);
    expect(await keys({ program }, { limit: 2, after: `${program}/4` })).toEqual([3, 2]);
    expect(await keys({ program }, { reverse: true, limit: 2, after: `${program}/3` })).toEqual([4, 5]);
    expect(await keys({ program, delivery: "delivered" })).toEqual([5]);
    expect(await keys({ program, delivery: "exhausted" })).toEqual([]);
    await store.commit([], () => [{ ...event(`${program}/5`, program, 1, "exhausted"), kind: "put" }]);
    expect(await keys({ program, delivery: "delivered" })).toEqual([]);
    expect(await keys({ program, delivery: "exhausted" })).toEqual([5]);
  });

  test("ordered reads find both ends, continue from a number, and follow changes", async () => {
    const program = fresh();
    for (const sequence of [3, 1, 2])
      await store.commit([], () => [operation(program, sequence, "accepted", null)]);
    for (const sequence of [3, 2])
      await store.commit([], () => [operation(program, sequence, "signed", sequence + 10)]);
    const read = async (...parts: Parameters<Store["ordered"]>) =>
      (await store.ordered(...parts)).map(({ value }) => value.sequence);
    expect(await read("operations_by_sequence", [program])).toEqual([1, 2, 3]);
    expect(await read("operations_by_sequence", [program], { from: 2, limit: 1 })).toEqual([2]);
    expect(await read("operations_by_sequence", [program], { from: 2, reverse: true })).toEqual([2, 1]);
    expect(await read("operations_by_status", [program, "signed"])).toEqual([2, 3]);
    expect(await read("operations_by_status", [program, "accepted"])).toEqual([1]);
    expect(
      await read("operations_by_nonce", [signerOf(program), zeroHash], { reverse: true, limit: 1 }),
    ).toEqual([3]);
    expect(await read("operations_by_nonce", [signerOf(program), zeroHash], { from: 13 })).toEqual([3]);
    expect(await read("operations_by_nonce", [zeroAddress, zeroHash])).toEqual([]);
  });

  test("a restored image has everything, and later changes are gone", async () => {
    const program = fresh();
    await store.commit([`outbox/${program}`], ([sequence = 0]) => [
      event(`${program}/${sequence}`, program, sequence),
    ]);
    await store.commit([], () => [operation(program, 1, "signed", 4)]);
    const image = await store.export();
    await store.commit([`outbox/${program}`], ([sequence = 0]) => [
      event(`${program}/${sequence}`, program, sequence),
    ]);
    await store.commit([], () => [operation(program, 1, "confirmed", 4)]);
    await store.import(image);
    expect(await store.export()).toEqual(image);
    expect(await store.list("events", { program })).toHaveLength(1);
    expect(await store.ordered("operations_by_status", [program, "signed"])).toHaveLength(1);
    await store.commit([`outbox/${program}`], ([sequence = 0]) => [
      event(`${program}/${sequence}`, program, sequence),
    ]);
    expect((await store.list("events", { program })).map(({ value }) => value.sequence)).toEqual([1, 2]);
  });

  test("an image is a copy: changing it does not change the store", async () => {
    const key = fresh();
    await store.commit([], () => [budget("insert", key, "1")]);
    const image = await store.export();
    const value = image.collections.budgets?.[key]?.value;
    expect(value).toEqual((await store.get("budgets", key))?.value);
    Object.assign(value ?? {}, { limit_wei: "2" });
    expect((await store.get("budgets", key))?.value.limit_wei).toBe("1");
  });

  test("after an image is restored, only the numbers in the image count", async () => {
    const counter = fresh();
    expect([await store.next(counter), await store.next(counter)]).toEqual([1, 2]);
    const image = await store.export();
    expect([await store.next(counter), await store.next(counter)]).toEqual([3, 4]);
    await store.import(image);
    expect(await store.next(counter)).toBe(3);
  });

  test("committed data is still there after the store was closed and opened again", async () => {
    const counter = fresh();
    expect([await store.next(counter), await store.next(counter)]).toEqual([1, 2]);
    // Numbers that were taken are kept with the next commit, whatever it is about.
    await store.commit([], () => [budget("insert", fresh(), "1")]);
    const image = await store.export();
    expect(Object.keys(image.collections.events ?? {}).length).toBeGreaterThan(0);
    if (opened.reopen === null) return;
    store = await opened.reopen();
    expect(await store.export()).toEqual(image);
    expect(await store.next(counter)).toBe(3);
    const program = fresh();
    await store.commit([`outbox/${program}`], ([sequence = 0]) => [
      event(`${program}/${sequence}`, program, sequence),
    ]);
    expect(await store.list("events", { program })).toHaveLength(1);
  });
}

function budget<K extends "insert" | "put">(kind: K, key: string, limit: string) {
  const value: BudgetRecord = {
    program: key,
    limit_wei: limit,
    reserved_wei: "0",
    spent_wei: "0",
    next_sequence: 1,
  };
  return { kind, collection: "budgets", key, value } as const;
}

/** The insertion of an event. */
export function event(
  key: string,
  program: string,
  sequence: number,
  delivery: EventRecord["delivery"] = "undelivered",
) {
  const value: EventRecord = {
    id: key,
    program,
    sequence,
    type: "merchant.created",
    subject: "mer_aaaaaaaaaaaaaaaaaaaa",
    body: "{}",
    body_sha256: zeroHash,
    created_at: 0,
    delivery,
  };
  return { kind: "insert", collection: "events", key, value } as const;
}

/** A signer of each program's own. */
export function signerOf(program: string): Address {
  return `0x${program.replace(/\D/g, "").padStart(40, "0")}`;
}

/** An operation as it is put, whatever was there. */
export function operation(
  program: string,
  sequence: number,
  status: RelayOperationStatus,
  nonce: number | null,
) {
  const operation_id = `op_${program}_${sequence}`;
  const value = relayOperation({ operation_id, program, sequence, status, nonce, from: signerOf(program) });
  return { kind: "put", collection: "operations", key: operation_id, value } as const;
}

const purchase = purchaseRecord({ id: "pur_exact", program: "prg_exact", event_id: "evt_1" });
