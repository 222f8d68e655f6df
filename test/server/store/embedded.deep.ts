import { cp, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openDirectoryStore, readDirectory } from "../../../server/store/directory/directory-store.ts";
import type { Store } from "../../../server/store/store.ts";
import { temporaryFolder } from "../../temporary-folder.ts";

describe("a directory that was damaged", () => {
  test("any changed byte is refused with file and line, or has no effect", async () => {
    const folder = await temporaryFolder();
    await fill(folder);
    const whole = await readDirectory(folder);
    for (const name of ["store.json", "store.journal"]) {
      const file = join(folder, name);
      const bytes = await readFile(file);
      let refused = 0;
      for (const at of bytes.keys()) {
        const damaged = Buffer.from(bytes);
        damaged[at] = (bytes[at] ?? 0) ^ (1 << (at % 8));
        await writeFile(file, damaged);
        const message = await readDirectory(folder).then(
          (image) => JSON.stringify(image),
          (error: unknown) => String(error),
        );
        if (/^StoreDamagedError: .*store\.(json|journal), line [0-9]+: /.test(message)) refused += 1;
        else expect(message).toBe(JSON.stringify(whole));
      }
      expect(refused).toBe(bytes.length);
      await writeFile(file, bytes);
    }
  });

  test("a truncated journal loses its last records, and a truncated snapshot is refused", async () => {
    const folder = await temporaryFolder();
    await fill(folder);
    const [snapshot, journal] = [join(folder, "store.json"), join(folder, "store.journal")];
    const bytes = await readFile(snapshot);
    const accepted: number[] = [];
    for (const length of bytes.keys()) {
      await writeFile(snapshot, bytes.subarray(0, length));
      const outcome = await readDirectory(folder).then(() => "accepted", String);
      if (outcome === "accepted") accepted.push(length);
      else if (!/store\.json, line [0-9]+: /.test(outcome)) throw new Error(outcome);
    }
    // Only the last newline is no loss.
    expect(accepted).toEqual([bytes.length - 1]);
    await writeFile(snapshot, bytes);
    const written = await readFile(journal);
    const pasts = new Set<string>();
    for (const length of written.keys()) {
      await writeFile(journal, written.subarray(0, length));
      const past = Object.keys((await readDirectory(folder)).collections.used_transactions ?? {});
      const lines = written.subarray(0, length + 1).filter((byte) => byte === 0x0a).length;
      pasts.add(`${lines} lines: ${past.join()}`);
    }
    expect([...pasts]).toEqual([
      "0 lines: 0x01,0x02",
      "1 lines: 0x01,0x02,0x03",
      "2 lines: 0x01,0x02,0x03,0x04",
    ]);
  });
});

/** Makes a directory as a killed process leaves it: two records in the snapshot, two in the journal. */
async function fill(folder: string): Promise<void> {
  const origin = await temporaryFolder();
  const first = await openDirectoryStore(origin);
  for (const key of ["0x01", "0x02"]) await put(first, key);
  await first.close();
  const second = await openDirectoryStore(origin);
  for (const key of ["0x03", "0x04"]) await put(second, key);
  await cp(origin, folder, { recursive: true });
  await second.close();
}

/** @param revision - the revision that is updated; any if not given. */
async function put(store: Store, key: string, revision?: number): Promise<void> {
  await store.commit(["outbox/prg_demo"], ([sequence]) => {
    const change = {
      collection: "used_transactions",
      key,
      value: { step: "offer", subject: `ü ${sequence}` },
    } as const;
    return [revision === undefined ? { ...change, kind: "put" } : { ...change, kind: "update", revision }];
  });
}
