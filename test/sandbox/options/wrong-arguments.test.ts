import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { createSandbox, type Sandbox } from "../../../sandbox/create-sandbox.ts";
import type { Part } from "../../../sandbox/lib/part.ts";
import type { SandboxOptions } from "../../../sandbox/options/options.ts";
import { temporaryFolder } from "../../temporary-folder.ts";

const optionInvalid = { name: "SandboxError", code: "option_invalid" };
const argumentInvalid = { name: "SandboxError", code: "argument_invalid" };

// What JavaScript, or values of a type that was cast, can pass in spite of the declarations.
let sandbox: Sandbox;
let untyped: { [name: string]: { [name: string]: (...values: unknown[]) => Promise<unknown> } };
beforeAll(async () => {
  sandbox = await createSandbox({ seed: "wrong-arguments" });
  untyped = JSON.parse("{}");
  Object.assign(untyped, { clock: sandbox.clock, buyer: sandbox.wallets.buyer, sandbox });
});
afterAll(async () => await sandbox.close());

describe("clock.travel names what is no duration", () => {
  test.each([
    [{ day: 8 }, '{"day":8}'],
    ["8d", '"8d"'],
    [{}, "{}"],
    [null, "null"],
  ])("%j", async (by, shown) => {
    await expect(untyped["clock"]?.["travel"]?.(by)).rejects.toMatchObject({
      name: "ClockError",
      code: "time_invalid",
      message: `${shown} is not a duration. Pass seconds or an object of days, hours, minutes and seconds, such as { days: 8 }.`,
    });
  });
});

test("createSandbox names an option that it does not have", async () => {
  const misspelled = { seed: "x", sed: "y" };
  await expect(createSandbox(misspelled)).rejects.toMatchObject({
    ...optionInvalid,
    message: expect.stringMatching(/^createSandbox has no option "sed"\. Use seed, mode, ports, .*from\.$/),
  });
});

test("createSandbox names a wrong port as the option and as the flag", async () => {
  await expect(createSandbox({ ports: { api: -1 } })).rejects.toMatchObject({
    ...optionInvalid,
    message: "ports.api (--api-port) must be a number from 0 to 65535, not -1.",
  });
});

describe("an option that cannot be used is refused with the code option_invalid", () => {
  const part: Part = { name: "store", schema: z.null(), capture: () => null, restore() {} };
  test.each<[string, SandboxOptions]>([
    ["an empty data directory", { dataDirectory: "" }],
    ["an empty seed", { seed: "" }],
    ["no confirmations", { confirmations: 0 }],
    ["no program", { programs: [] }],
    ["a program without its prefix", { programs: ["books"] }],
    ["a program named twice", { programs: ["prg_books", "prg_books"] }],
    ["no time to start", { startTimeoutMs: 0 }],
    ["a part with the name of another", { parts: [part] }],
  ])("%s", async (_, options) => {
    await expect(createSandbox(options)).rejects.toMatchObject(optionInvalid);
  });

  test("a snapshot file together with a database", async () => {
    const from = join(await temporaryFolder(), "state");
    await sandbox.save(from);
    const store = "postgres://127.0.0.1/unused";
    await expect(createSandbox({ from, store })).rejects.toMatchObject({
      ...optionInvalid,
      message: "A snapshot file continues in a data directory; leave out --store or --from.",
    });
  });
});

test("a database URL that names no database is refused with its own code, and is not shown", async () => {
  await expect(createSandbox({ store: "mysql://secret@localhost/shop" })).rejects.toMatchObject({
    name: "DatabaseUrlError",
    code: "database_url_invalid",
    message:
      "--store must be a URL as in postgres://user:password@localhost:5432/database?schema=my_sandbox.",
  });
});

test("a database that refuses the connection is an error with the code that the API has for it", async () => {
  await expect(createSandbox({ store: "postgres://127.0.0.1:1/nowhere" })).rejects.toMatchObject({
    name: "StoreUnavailableError",
    code: "storage_unavailable",
    message: "The database refused or did not answer.",
  });
});

test("a commit that meets a newer record is refused with a code", async () => {
  const insert = () =>
    sandbox.store.commit([], () => [
      {
        kind: "insert",
        collection: "used_transactions",
        key: "0x01",
        value: { step: "offer", subject: "pur_1" },
      },
    ]);
  await insert();
  await expect(insert()).rejects.toMatchObject({ name: "StoreConflictError", code: "store_conflict" });
});

test("explain names what is no transaction hash", async () => {
  await expect(sandbox.explain("0x12")).rejects.toMatchObject({
    ...argumentInvalid,
    message: '"0x12" is not a transaction hash. Pass 0x and 64 hex digits.',
  });
});

test("openWallet says what a private key is, and does not show the wrong one", () => {
  expect(() => sandbox.openWallet("0x12")).toThrow(
    expect.objectContaining({
      ...argumentInvalid,
      message: "openWallet takes a private key of 32 bytes. Pass 0x and 64 hex digits.",
    }),
  );
});

test("receiver.failNext refuses a count that is no whole number with a code", () => {
  expect(() => sandbox.receiver.failNext(0.5, { status: 503 })).toThrow(
    expect.objectContaining({
      ...argumentInvalid,
      message: "Deliveries fail a whole number of times, not 0.5.",
    }),
  );
});

describe("a wallet's action names what is passed instead of a purchase", () => {
  test.each([
    ["nothing", undefined, "pay takes a purchase, not undefined. Pass a purchase as the API answers it."],
    ["a promise", Promise.resolve({}), "pay takes a purchase, not a promise. Await it first."],
    [
      "an answer",
      { data: {} },
      "pay takes a purchase, not another object. Pass a purchase as the API answers it.",
    ],
  ])("%s", async (_, purchase, message) => {
    await expect(untyped["buyer"]?.["pay"]?.(purchase)).rejects.toThrow(message);
  });
});
