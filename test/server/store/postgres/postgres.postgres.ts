import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Database, DatabaseUrlError } from "../../../../server/store/postgres/database.ts";
import { PostgresStore } from "../../../../server/store/postgres/postgres-store.ts";
import type { Store } from "../../../../server/store/store.ts";
import {
  hasPostgres,
  inPostgres,
  type PostgresServer,
  password,
  startPostgres,
} from "../../../kit/postgres-server.ts";
import { testStore } from "../contract.ts";

describe.skipIf(!hasPostgres)(inPostgres, () => {
  let server: PostgresServer;

  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(async () => {
    await server.close();
  });

  const open = async (schema: string) => await PostgresStore.open(new Database(server.url(schema)));

  testStore(async () => {
    let store = await open("contract");
    const reopen = async () => {
      await store.close();
      store = await open("contract");
      return store;
    };
    return { store, reopen, close: async () => await store.close() };
  });

  test("each process reads what another has committed, and of two commits on one revision one succeeds", async () => {
    const [left, right] = [await open("two"), await open("two")];
    await put(left, "0x01", "left");
    expect((await right.get("used_transactions", "0x01"))?.value.subject).toBe("left");
    const change = (store: Store, subject: string) =>
      store.commit(["outbox/two"], ([number]) => [
        {
          kind: "update",
          collection: "used_transactions",
          key: "0x01",
          value: { step: String(number), subject },
          revision: 1,
        },
      ]);
    const outcomes = await Promise.allSettled([change(left, "left again"), change(right, "right")]);
    expect(outcomes.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
    // Of these three commits one wrote nothing.
    expect((await left.position()).commits).toBe(2);
    const numbers = await Promise.all([left, right, left, right].map(async (store) => await store.next("n")));
    expect(numbers.toSorted()).toEqual([1, 2, 3, 4]);
    const counted = Array.from({ length: 20 }, async (_, index) => {
      await (index % 2 === 0 ? left : right).commit(["outbox/two"], ([number]) => [
        {
          kind: "insert",
          collection: "used_transactions",
          key: `k${number}`,
          value: { step: "", subject: "" },
        },
      ]);
    });
    await Promise.all(counted);
    const keys = (await left.list("used_transactions", {})).map(({ key }) => key);
    expect(keys).toEqual(["0x01", ...Array.from({ length: 20 }, (_, index) => `k${index + 2}`)]);
    await Promise.all([left.close(), right.close()]);
  });

  test("a schema can have any name, and each schema is a separate store", async () => {
    const names = [`we"ird'; DROP SCHEMA two; --`, "Übergröße $1", "select"];
    for (const name of names) {
      const store = await open(name);
      await put(store, "0x01", name);
      await store.close();
    }
    for (const name of names) {
      const store = await open(name);
      expect((await store.list("used_transactions", {})).map(({ value }) => value.subject)).toEqual([name]);
      await store.close();
    }
    const schemas = await server.ask("SELECT nspname FROM pg_namespace");
    expect(schemas.map(({ nspname }) => nspname)).toEqual(expect.arrayContaining(names));
  });

  test("a role without the right to create a schema is refused with the right that it lacks", async () => {
    await server.ask("CREATE ROLE guest LOGIN");
    const url = Object.assign(new URL(server.url("of_guest")), { username: "guest" });
    await expect(PostgresStore.open(new Database(url.href))).rejects.toMatchObject({
      name: "StoreUnavailableError",
      message:
        "The database refused or did not respond (42501). The role lacks a right. Grant it CREATE on the database.",
    });
  });

  test("while the database cannot be reached, writes and reads are refused; afterwards they continue", async () => {
    const store = await open("away");
    await put(store, "0x01", "before");
    await server.stop();
    const unavailable = {
      name: "StoreUnavailableError",
      message: expect.stringMatching(
        /^The database refused or did not respond.*\. Check that it runs, and that the URL of the option store is right\.$/,
      ),
    };
    await expect(put(store, "0x02", "lost")).rejects.toMatchObject(unavailable);
    await expect(store.get("used_transactions", "0x01")).rejects.toMatchObject(unavailable);
    await server.start();
    await put(store, "0x03", "after");
    const subjects = (await store.list("used_transactions", {})).map(({ value }) => value.subject);
    expect(subjects).toEqual(["before", "after"]);
    await store.close();
  });

  test("tables of a newer format are refused and stay unchanged", async () => {
    await (await open("newer")).close();
    await server.ask("UPDATE newer.about SET value = '2' WHERE name = 'format'");
    await expect(open("newer")).rejects.toThrow("are of format 2, and this version knows format 1");
  });
});

test("a URL that names no database is refused without being shown", () => {
  for (const url of [
    `mysql://u:${password}@h/d`,
    password,
    `postgres://u:${password}@h/d?sslmode=x`,
    `postgres://h/d?schema=`,
  ]) {
    const open = () => new Database(url);
    expect(open).toThrow(DatabaseUrlError);
    expect(open).not.toThrow(password);
  }
});

async function put(store: Store, key: string, subject: string): Promise<void> {
  const value = { step: "offer", subject };
  await store.commit([], () => [{ kind: "put", collection: "used_transactions", key, value }]);
}
