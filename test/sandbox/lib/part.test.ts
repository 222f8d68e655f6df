import { mkdir, readdir, readFile, rmdir } from "node:fs/promises";
import { join } from "node:path";
import type { Hex } from "viem";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { sha256Hex } from "../../../protocol/values/canonical-json.ts";
import { readMining, setMining } from "../../../sandbox/chain/clock/mining.ts";
import { createSandbox } from "../../../sandbox/create-sandbox.ts";
import { showValue } from "../../../sandbox/lib/errors/show-value.ts";
import type { Part } from "../../../sandbox/lib/part.ts";
import { temporaryFolder } from "../../temporary-folder.ts";

/** The state of a backend under test. */
function cartPart(): Part<bigint> & { total: bigint } {
  return {
    total: 0n,
    name: "cart",
    schema: z.codec(z.string(), z.bigint(), { decode: BigInt, encode: String }),
    capture() {
      return this.total;
    },
    restore(total) {
      this.total = total;
    },
    digest: (total) => ({ cart: sha256Hex(new TextEncoder().encode(String(total))) }),
  };
}

test("a part of your own is restored, saved and digested with the sandbox's", async () => {
  const cart = cartPart();
  await using sandbox = await createSandbox({ parts: [cart] });
  cart.total = 5n;
  const snapshot = await sandbox.snapshot();
  const before = await sandbox.fingerprint();
  cart.total = 6n;
  expect(await sandbox.fingerprint()).not.toEqual(before);
  await snapshot.restore();
  expect(cart.total).toBe(5n);
  expect(await sandbox.fingerprint()).toEqual(before);
  expect(before.parts).toEqual({ cart: sha256Hex(new TextEncoder().encode("5")) });

  const file = join(await temporaryFolder(), "with-a-cart.snapshot");
  await sandbox.save(file);
  const loaded = cartPart();
  await using other = await createSandbox({ from: file, parts: [loaded] });
  expect(loaded.total).toBe(5n);
  expect((await other.fingerprint()).parts).toEqual(before.parts);
});

test("a fingerprint without parts of the option parts has no field parts", async () => {
  await using sandbox = await createSandbox();
  expect(await sandbox.fingerprint()).not.toHaveProperty("parts");
});

test("a snapshot file is loaded with the parts that it was saved with, or refused", async () => {
  const folder = await temporaryFolder();
  const [withCart, without] = [join(folder, "with.snapshot"), join(folder, "without.snapshot")];
  {
    await using sandbox = await createSandbox({ parts: [cartPart()] });
    await sandbox.save(withCart);
  }
  {
    await using sandbox = await createSandbox();
    await sandbox.save(without);
  }
  const refused = (reason: string) => ({
    code: "snapshot_refused",
    message: `The snapshot file cannot be loaded: ${reason}. Load it with the parts that it was saved with.`,
  });
  await expect(createSandbox({ from: withCart })).rejects.toMatchObject(
    refused("it holds cart, which the option parts does not name"),
  );
  await expect(createSandbox({ from: without, parts: [cartPart()] })).rejects.toMatchObject(
    refused("it does not hold cart"),
  );
});

test("a part without a schema is restored with the sandbox's, and is not in snapshot files", async () => {
  const log: string[] = [];
  const cleared: Part<null> = {
    name: "log",
    schema: null,
    capture: () => null,
    restore: () => {
      log.length = 0;
    },
  };
  await using sandbox = await createSandbox({ parts: [cleared] });
  const snapshot = await sandbox.snapshot();
  log.push("written after the snapshot");
  await snapshot.restore();
  expect(log).toEqual([]);

  const file = join(await temporaryFolder(), "without-the-log.snapshot");
  await sandbox.save(file);
  log.push("written before the load");
  await using other = await createSandbox({ from: file, parts: [cleared] });
  expect((await other.fingerprint()).digest).toBe((await sandbox.fingerprint()).digest);
  expect(log).toEqual(["written before the load"]);
  await using withoutIt = await createSandbox({ from: file });
  expect(withoutIt.description.chain.epoch).toBe(sandbox.description.chain.epoch);
});

/** A part whose functions can be made to throw. */
function failingPart(name: string) {
  return {
    name,
    schema: z.string(),
    state: "new",
    throwsIn: null as "capture" | "restore" | "half of restore" | null,
    capture() {
      if (this.throwsIn === "capture") throw new Error("no connection.");
      return this.state;
    },
    restore(state: string) {
      if (this.throwsIn === "restore") throw new Error("no connection.");
      this.state = state;
      if (this.throwsIn !== "half of restore") return;
      this.throwsIn = null;
      throw new Error("no connection.");
    },
  };
}

/** All files of a data directory's store. */
async function filesOf(dataDirectory: string) {
  const names = (await readdir(join(dataDirectory, "store"))).toSorted();
  return await Promise.all(
    names.map(async (name) => [name, await readFile(join(dataDirectory, "store", name), "utf8")]),
  );
}

describe.for(["in memory", "in a data directory"])("a restore %s", (where) => {
  const startOptions = async () =>
    where === "in memory" ? {} : { dataDirectory: join(await temporaryFolder(), "data") };

  test.for(["capture", "restore", "half of restore"] as const)(
    "changes nothing if a part throws in %s, and its snapshot stays valid",
    async (throwsIn) => {
      const options = await startOptions();
      const parts = [failingPart("first"), failingPart("cart"), failingPart("last")] as const;
      const [, cart] = parts;
      const sandbox = await createSandbox({ ...options, parts });
      const { client } = sandbox.chain;
      const atSnapshot = await sandbox.fingerprint();
      const snapshot = await sandbox.snapshot();
      await sandbox.given.merchant({ state: "enrolled" });
      await sandbox.faults.set({ layer: "relayer", point: "broadcast", action: "drop" });
      await setMining(client, "never");
      const { address } = sandbox.wallets.stranger;
      await client.impersonateAccount({ address });
      await client.request({
        method: "eth_sendTransaction",
        params: [{ from: address, to: address }],
      } as never);
      for (const part of parts) part.state = "changed";
      const observe = async () => ({
        fingerprint: await sandbox.fingerprint(),
        mining: await readMining(client),
        pool: await client.getTxpoolStatus(),
        faults: sandbox.faults.list(),
        parts: parts.map(({ state }) => state),
        files: options.dataDirectory === undefined ? [] : await filesOf(options.dataDirectory),
      });
      const before = await observe();
      cart.throwsIn = throwsIn;
      await expect(snapshot.restore()).rejects.toMatchObject({
        name: "SandboxError",
        code: "part_failed",
        message: expect.stringContaining(
          throwsIn === "restore" ? ": cart. " : 'part "cart" threw: no connection. Correct',
        ),
      });
      cart.throwsIn = null;
      expect(await observe()).toEqual(before);

      await snapshot.restore();
      expect(await sandbox.fingerprint()).toEqual(atSnapshot);
      expect(parts.map(({ state }) => state)).toEqual(["new", "new", "new"]);
      await sandbox.close();
      if (options.dataDirectory === undefined) return;
      await using again = await createSandbox(options);
      expect(await again.fingerprint()).toEqual(atSnapshot);
    },
  );
});

test("a restore puts parts back if the data directory refuses the write", async () => {
  const dataDirectory = join(await temporaryFolder(), "data");
  const cart = cartPart();
  await using sandbox = await createSandbox({ dataDirectory, parts: [cart] });
  const snapshot = await sandbox.snapshot();
  cart.total = 6n;
  await sandbox.given.merchant({ state: "enrolled" });
  const before = await sandbox.fingerprint();
  const inTheWay = join(dataDirectory, "store", "store.json.next");
  await mkdir(inTheWay);
  await expect(snapshot.restore()).rejects.toMatchObject({ name: "StoreUnavailableError" });
  expect(await sandbox.fingerprint()).toEqual(before);
  expect(cart.total).toBe(6n);
  await rmdir(inTheWay);
  await snapshot.restore();
  expect(cart.total).toBe(0n);
});

test.for(["capture", "restore", "digest"] as const)(
  "an error in the function %s of a part names the part",
  async (throwsIn) => {
    const cart = {
      ...cartPart(),
      [throwsIn]() {
        throw new Error("no connection");
      },
    };
    await using sandbox = await createSandbox({ parts: [cart] });
    const restoreSnapshot = async () => await (await sandbox.snapshot()).restore();
    const failing = throwsIn === "digest" ? sandbox.fingerprint() : restoreSnapshot();
    await expect(failing).rejects.toMatchObject({
      name: "SandboxError",
      code: "part_failed",
      message:
        throwsIn === "restore"
          ? "These parts could not be put back after a failed restore, because they threw again: cart. Everything else is as before; correct them and restore again."
          : `The function ${throwsIn} of the part "cart" threw: no connection. Correct it and try again.`,
    });
  },
);

test("a start from a snapshot file names the part that cannot be restored", async () => {
  const file = join(await temporaryFolder(), "with-a-cart.snapshot");
  {
    await using sandbox = await createSandbox({ parts: [cartPart()] });
    await sandbox.save(file);
  }
  const restore = () => {
    throw new Error("no connection");
  };
  await expect(createSandbox({ from: file, parts: [{ ...cartPart(), restore }] })).rejects.toMatchObject({
    name: "SandboxError",
    code: "part_failed",
    message: 'The function restore of the part "cart" threw: no connection. Correct it and try again.',
  });
});

test("two parts of the same name are refused", async () => {
  const twice = createSandbox({ parts: [{ ...cartPart(), name: "store" }] });
  await expect(twice).rejects.toThrow(
    'Two parts have the name "store". Give the part in the option parts another name.',
  );
});

describe("a digest that would take the place of another one in the fingerprint is refused", () => {
  const hash = sha256Hex(new Uint8Array());
  const digesting = (name: string, digests: { [digest: string]: Hex }): Part<null> => ({
    name,
    schema: z.null(),
    capture: () => null,
    restore() {},
    digest: () => digests,
  });
  test.each<[digest: string, owner: string, parts: Part<null>[]]>([
    ["store", "store", [digesting("cart", { store: hash })]],
    ["journal", "store", [digesting("cart", { journal: hash })]],
    ["faults", "faults", [digesting("cart", { faults: hash })]],
    ["orders", "other", [digesting("other", { orders: hash }), digesting("cart", { orders: hash })]],
    ["other", "other", [digesting("cart", { other: hash }), digesting("other", {})]],
  ])("%s, of the part %s", async (digest, owner, parts) => {
    await using sandbox = await createSandbox({ parts });
    const refused = {
      name: "SandboxError",
      code: "option_invalid",
      message: `The part "cart" has a digest "${digest}", a name that belongs to the part "${owner}". Give the digest another name.`,
    };
    await expect(sandbox.fingerprint()).rejects.toMatchObject(refused);
    await expect(sandbox.save(join(await temporaryFolder(), "file"))).rejects.toMatchObject(refused);
  });
});

test.each<[why: string, returned: unknown, message: string]>([
  [
    "is no SHA-256",
    { cart: "0x12" },
    'The digest "cart" of the part "cart" is "0x12". Return a SHA-256: 0x and 64 lower-case hex digits.',
  ],
  [
    "is in upper case",
    { cart: `0x${"AB".repeat(32)}` },
    `The digest "cart" of the part "cart" is "0x${"AB".repeat(32)}". Return a SHA-256: 0x and 64 lower-case hex digits.`,
  ],
  [
    "is missing",
    { cart: undefined },
    'The digest "cart" of the part "cart" is undefined. Return a SHA-256: 0x and 64 lower-case hex digits.',
  ],
  [
    "is named __proto__",
    JSON.parse(`{ "__proto__": "${sha256Hex(new Uint8Array())}" }`),
    'The part "cart" has a digest "__proto__". Give the digest another name.',
  ],
  ...[null, undefined, Promise.resolve({}), [], "0x12"].map((returned): [string, unknown, string] => [
    "is in no object",
    returned,
    `The function digest of the part "cart" returns ${showValue(returned)}. Return an object of digests by their names, at once.`,
  ]),
])("a digest that %s is refused with the name of its part: %j", async (_, returned, message) => {
  const cart: Part<bigint> = cartPart();
  Object.assign(cart, { digest: () => returned });
  await using sandbox = await createSandbox({ parts: [cart] });
  const refused = { name: "SandboxError", code: "option_invalid", message };
  await expect(sandbox.fingerprint()).rejects.toMatchObject(refused);
});

describe("a state that a snapshot file could not bring back is refused by save", () => {
  const lossy = z.codec(z.string(), z.date(), {
    decode: (text) => {
      throw new Error(`${text} is no date`);
    },
    encode: () => "today",
  });
  test.each<[why: string, schema: z.ZodType, state: unknown, reason: string]>([
    [
      "a date",
      z.date(),
      new Date(0),
      'its schema encodes it as "1970-01-01T00:00:00.000Z", which is not JSON',
    ],
    [
      "a map",
      z.map(z.string(), z.int()),
      new Map([["a", 1]]),
      "its schema encodes it as {}, which is not JSON",
    ],
    ["a map in any value", z.any(), { carts: [new Map()] }, 'its schema encodes it as {"carts":[{}]}, which'],
    ["undefined", z.undefined(), undefined, "its schema encodes it as undefined, which is not JSON"],
    ["a bigint", z.bigint(), 5n, "its schema encodes it as 5n, which is not JSON"],
    ["not a number", z.nan(), Number.NaN, "its schema encodes it as NaN, which is not JSON"],
    ["a function", z.any(), { on() {} }, "its schema encodes it as {}, which is not JSON"],
    [
      "a state that does not fit the schema",
      z.object({ total: z.int() }),
      { total: "5" },
      ": Invalid input: expected number, received string at total. ",
    ],
    ["the result of a one-way transform", z.string().transform(Number), 5, "unidirectional transform"],
    ["a state that is not decoded again", lossy, new Date(0), "today is no date"],
  ])("%s", async (_, schema, state, reason) => {
    const cart: Part = { name: "cart", schema, capture: () => state, restore() {} };
    await using sandbox = await createSandbox({ parts: [cart] });
    const folder = await temporaryFolder();
    const refused = await sandbox.save(join(folder, "file")).catch((error: unknown) => error);
    expect(refused).toMatchObject({ name: "SandboxError", code: "snapshot_refused" });
    expect(String(refused)).toContain('The part "cart" cannot be saved: ');
    expect(String(refused)).toContain(reason);
    expect(await readdir(folder)).toEqual([]);
  });
});

test("fields that are undefined are left out of a snapshot file", async () => {
  const optional = z.object({ total: z.int().optional() });
  const file = join(await temporaryFolder(), "without-a-total.snapshot");
  {
    const cart: Part = {
      name: "cart",
      schema: optional,
      capture: () => ({ total: undefined }),
      restore() {},
    };
    await using sandbox = await createSandbox({ parts: [cart] });
    await sandbox.save(file);
  }
  let restored: unknown;
  const restore = (state: unknown) => {
    restored = state;
  };
  await using _loaded = await createSandbox({
    from: file,
    parts: [{ name: "cart", schema: optional, capture: () => null, restore }],
  });
  expect(restored).toEqual({});
});

test("a part named __proto__ is refused", async () => {
  const refused = {
    code: "option_invalid",
    message: 'A part cannot be named "__proto__". Give it another name.',
  };
  await expect(createSandbox({ parts: [{ ...cartPart(), name: "__proto__" }] })).rejects.toMatchObject(
    refused,
  );
});
