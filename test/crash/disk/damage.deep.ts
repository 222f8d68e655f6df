import { createHash } from "node:crypto";
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createSandbox } from "../../../sandbox/create-sandbox.ts";

/** At how many places of each file. */
const places = 16;

let folder = "";
let files: string[] = [];
let head = "";

/** The bytes of every file of a store. */
async function readStore(dataDirectory: string): Promise<{ [name: string]: string }> {
  const store = join(dataDirectory, "store");
  const names = (await readdir(store)).toSorted();
  const digests = names.map(async (name) => {
    const digest = createHash("sha256")
      .update(await readFile(join(store, name)))
      .digest("hex");
    return [name, digest] as const;
  });
  return Object.fromEntries(await Promise.all(digests));
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "routing-sandbox-damage-"));
  const base = join(folder, "base");
  const first = await createSandbox({ dataDirectory: base });
  await first.given.purchase({ state: "paid" });
  await first.chain.client.mine({ blocks: 20 });
  await first.close();
  await using second = await createSandbox({ dataDirectory: base });
  await second.given.purchase({ state: "active" });
  head = (await second.chain.client.getBlock()).hash;
  // As a kill leaves it.
  await cp(join(base, "store"), join(folder, "killed", "store"), { recursive: true });
  files = await readdir(join(folder, "killed", "store"));
});
afterAll(async () => await rm(folder, { recursive: true, force: true }));

const damages: { readonly [kind: string]: (bytes: Buffer, at: number) => Buffer } = {
  flipped: (bytes, at) =>
    Buffer.concat([bytes.subarray(0, at), Buffer.from([(bytes[at] ?? 0) ^ 4]), bytes.subarray(at + 1)]),
  "cut off": (bytes, at) => bytes.subarray(0, at),
  zeroed: (bytes, at) => Buffer.concat([bytes.subarray(0, at), Buffer.alloc(512), bytes.subarray(at + 512)]),
};

test.for(Object.keys(damages))(
  "a start from a directory of which any file is %s has everything, or is refused and changes nothing",
  { timeout: 1_800_000 },
  async (kind) => {
    const wrong: string[] = [];
    for (const name of files)
      for (let place = 0; place < places; place += 1) {
        const dataDirectory = join(folder, "damaged");
        await cp(join(folder, "killed"), dataDirectory, { recursive: true });
        const file = join(dataDirectory, "store", name);
        const bytes = await readFile(file);
        const at = Math.floor((place * bytes.length) / places);
        await writeFile(file, damages[kind]?.(bytes, at) ?? bytes);
        const before = await readStore(dataDirectory);
        const started = await createSandbox({ dataDirectory }).catch((error: unknown) => error);
        const said = started instanceof Error ? `${started.name}: ${started.message}` : "started";
        if (started instanceof Error) {
          const isTold =
            /does not match|missing|format|not end|cannot be made again|follows|no collection/.test(said);
          const isSame = JSON.stringify(await readStore(dataDirectory)) === JSON.stringify(before);
          if (!isTold || !isSame) wrong.push(`${name} at ${at}: ${said}; unchanged: ${isSame}`);
        } else {
          const sandbox = started as Awaited<ReturnType<typeof createSandbox>>;
          const block = await sandbox.chain.client.getBlock();
          await sandbox.close();
          // Lines that are missing at the end of a journal cannot be distinguished from lines that were never there.
          const mayEndEarly = name === "store.journal" && kind === "cut off";
          if (block.hash !== head && !mayEndEarly) wrong.push(`${name} at ${at}: started at another block`);
        }
        await rm(dataDirectory, { recursive: true, force: true });
      }
    expect(wrong).toEqual([]);
    expect(files.length).toBeGreaterThan(3);
  },
);
