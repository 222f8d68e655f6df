import { mkdir, rmdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { z } from "zod";
import { sha256Hex } from "../../../protocol/values/canonical-json.ts";
import { createSandbox } from "../../../sandbox/create-sandbox.ts";
import { showValue } from "../../../sandbox/lib/errors/show-value.ts";
import type { Part } from "../../../sandbox/lib/part.ts";
import { freshSandbox } from "../../kit/fresh-sandbox.ts";
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
  const sandbox = await freshSandbox();
  expect(await sandbox.fingerprint()).not.toHaveProperty("parts");
});

test("a snapshot file is loaded with the parts that it was saved with, or refused", {
  tags: "thorough",
}, async () => {
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
  const refused = (file: string, reason: string) => ({
    code: "snapshot_refused",
    message: `${file} cannot be loaded: ${reason}. Load it with the parts that it was saved with, or save it again.`,
  });
  await expect(createSandbox({ from: withCart })).rejects.toMatchObject(
    refused(withCart, "it holds cart, which the option parts does not name"),
  );
  await expect(createSandbox({ from: without, parts: [cartPart()] })).rejects.toMatchObject(
    refused(without, "it does not hold cart"),
  );
});

test("a part without a schema is restored with the sandbox's, and is not in snapshot files", {
  tags: "thorough",
}, async () => {
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
])(
  "a digest that %s is refused with the name of its part: %j",
  { tags: "thorough" },
  async (_, returned, message) => {
    const cart: Part<bigint> = cartPart();
    Object.assign(cart, { digest: () => returned });
    await using sandbox = await createSandbox({ parts: [cart] });
    const refused = { name: "SandboxError", code: "option_invalid", message };
    await expect(sandbox.fingerprint()).rejects.toMatchObject(refused);
  },
);

test("a part named __proto__ is refused", async () => {
  const refused = {
    code: "option_invalid",
    message: 'A part cannot be named "__proto__". Give it another name.',
  };
  await expect(createSandbox({ parts: [{ ...cartPart(), name: "__proto__" }] })).rejects.toMatchObject(
    refused,
  );
});
