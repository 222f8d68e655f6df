import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createSandbox, type Sandbox } from "../../../sandbox/create-sandbox.ts";

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
  await expect(createSandbox(misspelled)).rejects.toThrow(
    /^createSandbox has no option "sed"\. Use seed, mode, ports, .*from\.$/,
  );
});

test("createSandbox names a wrong port as the option and as the flag", async () => {
  await expect(createSandbox({ ports: { api: -1 } })).rejects.toThrow(
    "ports.api (--api-port) must be a number from 0 to 65535, not -1.",
  );
});

test("explain names what is no transaction hash", async () => {
  await expect(sandbox.explain("0x12")).rejects.toThrow(
    '"0x12" is not a transaction hash. Pass 0x and 64 hex digits.',
  );
});

test("openWallet says what a private key is, and does not show the wrong one", () => {
  expect(() => sandbox.openWallet("0x12")).toThrow(
    /^openWallet takes a private key of 32 bytes\. Pass 0x and 64 hex digits\.$/,
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
