import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Hex } from "viem";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { sha256Hex } from "../../../protocol/values/canonical-json.ts";
import { readMining, setMining } from "../../../sandbox/chain/clock/mining.ts";
import { createSandbox } from "../../../sandbox/create-sandbox.ts";
import type { Part } from "../../../sandbox/lib/part.ts";
import { temporaryFolder } from "../../temporary-folder.ts";

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
      "its schema encodes it as the Date 1970-01-01T00:00:00.000Z, which is not JSON",
    ],
    [
      "a map",
      z.map(z.string(), z.int()),
      new Map([["a", 1]]),
      "its schema encodes it as a Map, which is not JSON",
    ],
    [
      "a map in any value",
      z.any(),
      { carts: [new Map()] },
      'its schema encodes it as {"carts":[a Map]}, which',
    ],
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
