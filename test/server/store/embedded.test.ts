import { cp, mkdtemp, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { toLine } from "../../../server/store/directory/checked-lines.ts";
import { smallestCompaction } from "../../../server/store/directory/compacted-journal.ts";
import { openDirectoryStore, readDirectory } from "../../../server/store/directory/directory-store.ts";
import { openEphemeralStore } from "../../../server/store/journaled/journaled-store.ts";
import type { Store } from "../../../server/store/store.ts";
import { readLines } from "../../kit/store-lines.ts";
import { temporaryFolder } from "../../temporary-folder.ts";
import { testStore } from "./contract.ts";

describe("in memory", () => {
  testStore(async () => {
    const store = openEphemeralStore();
    return { store, reopen: null, close: async () => await store.close() };
  });
});

describe("in a directory", () => {
  testStore(async () => {
    const folder = await mkdtemp(join(tmpdir(), "routing-sandbox-store-"));
    let store = await openDirectoryStore(folder);
    const reopen = async () => {
      await store.close();
      store = await openDirectoryStore(folder);
      return store;
    };
    const close = async () => {
      await store.close();
      await rm(folder, { recursive: true });
    };
    return { store, reopen, close };
  });
});

describe("the files of a directory", () => {
  test("equal stores write equal bytes, however often one of them was opened or compacted", async () => {
    const [one, other] = [await temporaryFolder(), await temporaryFolder()];
    await putMany(one, 60);
    for (let from = 1; from <= 60; from += 12) await putMany(other, from + 11, from, 1_000);
    expect(await readFile(join(other, "store.json"))).toEqual(await readFile(join(one, "store.json")));
  });

  test("each line is a JSON object that names its collection, for jq and grep", async () => {
    const folder = await temporaryFolder();
    await fill(folder);
    const [, ...records] = await readLines(join(folder, "store.json"));
    expect(records.slice(0, 2)).toMatchObject([
      { collection: "used_transactions", key: "0x01", revision: 1, value: { step: "offer" } },
      { collection: "used_transactions", key: "0x02", revision: 1, value: { step: "offer" } },
    ]);
    const [batch] = await readLines(join(folder, "store.journal"));
    expect(batch).toMatchObject({ number: 3, changes: [{ collection: "used_transactions", key: "0x03" }] });
  });
});

describe("a directory of format 5, as version 0.1.0 wrote it", () => {
  const kept = join(import.meta.dirname, "format-5");
  const keptFolder = async () => {
    const folder = await temporaryFolder();
    await cp(join(kept, "snapshot.txt"), join(folder, "store.json"));
    await cp(join(kept, "journal.txt"), join(folder, "store.journal"));
    return folder;
  };
  const readImage = async () => JSON.parse(await readFile(join(kept, "image.json"), "utf8"));

  test("is read, and rewritten in the current format when it is opened", async () => {
    const folder = await keptFolder();
    expect(await readDirectory(folder)).toEqual(await readImage());
    const store = await openDirectoryStore(folder);
    expect(await store.export()).toEqual(await readImage());
    const [header] = await readLines(join(folder, "store.json"));
    expect(header).toMatchObject({ format: 6, up_to: 12 });
    expect(await readFile(join(folder, "store.journal"), "utf8")).toBe("");
    await put(store, "0x02");
    await store.close();
    expect(Object.keys((await readDirectory(folder)).collections.used_transactions ?? {})).toEqual([
      "0x01",
      "0x02",
    ]);
  });

  test("loses nothing when the process is killed after its snapshot was rewritten and before its journal", async () => {
    const folder = await keptFolder();
    await (await openDirectoryStore(folder)).close();
    await cp(join(kept, "journal.txt"), join(folder, "store.journal"));
    expect(await readDirectory(folder)).toEqual(await readImage());
  });

  test("may end with a write that was cut off, and is refused when anything else is not as it was written", async () => {
    const folder = await keptFolder();
    const [snapshot, journal] = [join(folder, "store.json"), join(folder, "store.journal")];
    const written = await readFile(journal, "utf8");
    await writeFile(journal, written + written.slice(0, 40));
    expect(await readDirectory(folder)).toEqual(await readImage());
    await writeFile(journal, `${written}{"number":13}`);
    await expect(readDirectory(folder)).rejects.toThrow("it does not end as it was written");
    await writeFile(journal, written);
    const lines = await readFile(snapshot, "utf8");
    await writeFile(snapshot, lines.replace('{"block":"A', '{"block":"B'));
    await expect(openDirectoryStore(folder)).rejects.toThrow(
      "store.json, line 2: it does not match its checksum",
    );
    const block = toLine({ block: "AwAA" });
    await writeFile(snapshot, lines.replace(/^.*"block".*\n/m, block));
    await expect(openDirectoryStore(folder)).rejects.toThrow(
      "store.json, line 2: it is not a record as it was written",
    );
  });
});

describe("a directory that was damaged", () => {
  test("a line that is longer than any is refused before it takes all memory", {
    tags: "thorough",
  }, async () => {
    const folder = await temporaryFolder();
    await fill(folder);
    const journal = join(folder, "store.journal");
    const bytes = await readFile(journal);
    await writeFile(journal, Buffer.concat([bytes, Buffer.alloc(65 * 2 ** 20, "x")]));
    await expect(openDirectoryStore(folder)).rejects.toThrow(
      /store\.journal, line \d+: it has more than 64 MiB \(byte \d+\)/,
    );
    const values = toLine({ number: 3, changes: Array.from({ length: 2 ** 21 }, () => []) });
    await writeFile(journal, Buffer.concat([bytes, Buffer.from(values)]));
    await expect(openDirectoryStore(folder)).rejects.toThrow(
      /store\.journal, line \d+: it has more than 4194304 values \(byte \d+\)/,
    );
  });

  test("a restored image is on disk at once, for the process that starts after a kill", async () => {
    const folder = await temporaryFolder();
    await fill(folder);
    const store = await openDirectoryStore(folder);
    const image = await store.export();
    await put(store, "0x05");
    await store.import(image);
    expect(await readDirectory(folder)).toEqual(image);
    await put(store, "0x06");
    expect(await readDirectory(folder)).toEqual(await store.export());
    await store.close();
  });

  test("a snapshot with a record too few or too many is refused, though each of its lines is as it was written", async () => {
    const folder = await temporaryFolder();
    await fill(folder);
    const file = join(folder, "store.json");
    const [header = "", first = "", second = "", end = ""] = (await readFile(file, "utf8")).split("\n");
    for (const records of [[first], [first, second, second], []]) {
      await writeFile(file, `${[header, ...records, end].join("\n")}\n`);
      await expect(readDirectory(folder)).rejects.toThrow(
        `store.json, line ${records.length + 2}: records are missing`,
      );
    }
  });

  test("a snapshot whose lines are swapped, or of which one is another sandbox's, is refused, though each is as it was written", async () => {
    const folder = await temporaryFolder();
    await fill(folder);
    const file = join(folder, "store.json");
    const [header = "", first = "", second = "", end = ""] = (await readFile(file, "utf8")).split("\n");
    const otherRecord = toLine({
      collection: "used_transactions",
      key: "0x01",
      revision: 1,
      value: { step: "pay" },
    }).trimEnd();
    const otherHeader = toLine({ format: 6, up_to: 2, chain_up_to: 0, begin: null, counters: {} }).trimEnd();
    for (const lines of [
      [header, second, first],
      [header, otherRecord, second],
      [otherHeader, first, second],
    ]) {
      await writeFile(file, `${[...lines, end].join("\n")}\n`);
      await expect(readDirectory(folder)).rejects.toThrow(
        "store.json, line 4: the lines before it are not those that were written with it",
      );
    }
  });

  test("a renamed journal must be complete: a truncated end is refused", async () => {
    const folder = await temporaryFolder();
    await fill(folder);
    const [journal, aside] = [join(folder, "store.journal"), join(folder, "store.journal.compacting")];
    const written = await readFile(journal);
    await writeFile(journal, "");
    await writeFile(aside, written);
    expect(Object.keys((await readDirectory(folder)).collections.used_transactions ?? {})).toHaveLength(4);
    await writeFile(aside, written.subarray(0, -5));
    await expect(readDirectory(folder)).rejects.toThrow(
      "store.journal.compacting, line 2: it does not end as it was written",
    );
  });

  test("a write that was cut off is dropped, and the next one replaces it", async () => {
    for (const cut of [1, 5]) {
      const folder = await temporaryFolder();
      await fill(folder);
      const journal = join(folder, "store.journal");
      const written = await readFile(journal);
      await writeFile(journal, written.subarray(0, -cut));
      const store = await openDirectoryStore(folder);
      await put(store, "0x05");
      const image = await store.export();
      expect(await readDirectory(folder)).toEqual(image);
      expect(Object.keys(image.collections.used_transactions ?? {})).toHaveLength(cut === 1 ? 5 : 4);
      await store.close();
    }
  });

  test("an end that no cut-off write leaves is refused, and nothing is changed", async () => {
    const { folder, journal, written, second, line } = await filledJournal();
    const withoutNewlines = Buffer.from(written.toString("latin1").replaceAll("\n", " "), "latin1");
    const firstDamaged = Buffer.from(withoutNewlines);
    firstDamaged[30] = (firstDamaged[30] ?? 0) ^ 1;
    const ends = {
      "any bytes": Buffer.concat([
        written.subarray(0, second),
        Buffer.from([...line.keys()].filter((byte) => byte !== 10)),
      ]),
      "other text": Buffer.concat([written.subarray(0, second), Buffer.from("not a line of a journal")]),
      "other newlines": withoutNewlines,
      "other newlines, and the beginning of a line": withoutNewlines.subarray(0, -10),
      "other newlines, and a few bytes of a line": withoutNewlines.subarray(0, second + 3),
      "other newlines after a damaged line": firstDamaged,
      "a whole line without its newline after a damaged line": firstDamaged.subarray(0, -1),
    };
    for (const [what, bytes] of Object.entries(ends)) {
      await writeFile(journal, bytes);
      await expect(openDirectoryStore(folder), what).rejects.toThrow(
        /store\.journal, line \d: it does not end as it was written/,
      );
      expect(await readFile(journal)).toEqual(bytes);
    }
  });

  test("a write of which the disk lacks any part is dropped, and the store says how many bytes", {
    tags: "thorough",
  }, async () => {
    for (const from of [0, 5, 16, 17, 40])
      for (const left of [0, 8, 50]) {
        const { folder, journal, written, second, line } = await filledJournal();
        const to = line.length - left;
        const part = Buffer.from(line).fill(0, from, to);
        await writeFile(journal, Buffer.concat([written.subarray(0, second), part]));
        const store = await openDirectoryStore(folder);
        expect(store.cutOffBytes).toBe(line.length);
        expect(Object.keys((await store.export()).collections.used_transactions ?? {})).toHaveLength(3);
        await store.close();
      }
  });

  test("a missing or duplicate entry is refused", async () => {
    const folder = await temporaryFolder();
    await fill(folder);
    const journal = join(folder, "store.journal");
    const [first = "", second = ""] = (await readFile(journal, "utf8")).split("\n");
    await writeFile(journal, `${second}\n`);
    await expect(readDirectory(folder)).rejects.toThrow("store.journal, line 1: entry 4 follows entry 2");
    await writeFile(journal, `${first}\n${toLine({ number: 5, counters: {}, changes: [] })}`);
    await expect(readDirectory(folder)).rejects.toThrow("store.journal, line 2: entry 5 follows entry 3");
    // An entry that a snapshot holds already is left out.
    await writeFile(
      journal,
      `${toLine({ number: 2, counters: { x: 99 }, changes: [] })}${first}\n${second}\n`,
    );
    expect((await readDirectory(folder)).counters).not.toHaveProperty("x");
  });
});

describe("a directory is refused and left alone", () => {
  const between =
    "Start the sandbox once with each minor version in between, or choose another data directory.";

  test.for([
    {
      format: 1,
      snapshot: JSON.stringify({ up_to: 3, image: { version: 1, counters: {}, collections: {} } }),
    },
    { format: 2, snapshot: toLine({ format: 2, up_to: 7, counters: {} }) },
    { format: 3, snapshot: toLine({ format: 3, up_to: 7, chain_up_to: 0, begin: null, counters: {} }) },
    { format: 4, snapshot: toLine({ format: 4, up_to: 7, chain_up_to: 0, begin: null, counters: {} }) },
    {
      format: 7,
      snapshot: toLine({ format: 7, up_to: 7, something: "new" }),
      advice: "Update routing-sandbox, or choose another data directory.",
    },
  ])("when it has format $format", async ({ format, snapshot, advice = between }) => {
    const folder = await temporaryFolder();
    const files = new Map([
      [join(folder, "store.json"), snapshot],
      [join(folder, "store.journal"), "not read at all"],
    ]);
    for (const [file, text] of files) await writeFile(file, text);
    await expect(openDirectoryStore(folder)).rejects.toThrow(
      `${join(folder, "store.json")}, line 1: this is format ${format}, and this version reads the formats 5 and 6. ${advice}`,
    );
    expect((await readdir(folder)).sort()).toEqual(["store.journal", "store.json"]);
    for (const [file, text] of files) expect(await readFile(file, "utf8")).toBe(text);
  });

  test("when it has a journal but no snapshot", async () => {
    const folder = await temporaryFolder();
    const journal = toLine({ number: 1, counters: { crd: 1 }, changes: [] });
    await writeFile(join(folder, "store.journal"), journal);
    await expect(openDirectoryStore(folder)).rejects.toThrow(
      `${join(folder, "store.json")} is missing, although ${join(folder, "store.journal")} is there. Restore it from a backup;`,
    );
    expect(await readdir(folder)).toEqual(["store.journal"]);
    expect(await readFile(join(folder, "store.journal"), "utf8")).toBe(journal);
  });

  test("when it has a snapshot but no journal, even if a journal was put aside", async () => {
    const folder = await temporaryFolder();
    await fill(folder);
    const journal = join(folder, "store.journal");
    const [aside, next] = [`${journal}.compacting`, `${journal}.next`];
    await rename(journal, aside);
    await expect(openDirectoryStore(folder)).rejects.toThrow(
      `${journal} is missing, although ${join(folder, "store.json")} is there. Restore it from a backup;`,
    );
    expect((await readdir(folder)).sort()).toEqual(["store.journal.compacting", "store.json"]);
    // As a process leaves it that is killed while it puts the journal aside.
    await writeFile(next, "");
    const store = await openDirectoryStore(folder);
    expect(Object.keys((await store.export()).collections.used_transactions ?? {})).toHaveLength(4);
    expect(await readdir(folder)).not.toContain("store.journal.next");
    await store.close();
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

/** Fills a directory, and returns its journal: where the second line begins, and this line without its newline. */
async function filledJournal() {
  const folder = await temporaryFolder();
  await fill(folder);
  const journal = join(folder, "store.journal");
  const written = await readFile(journal);
  const second = written.indexOf("\n") + 1;
  return { folder, journal, written, second, line: written.subarray(second, -1) };
}

/** Puts records, each of which changes an earlier one, and closes the store. */
async function putMany(
  folder: string,
  to: number,
  from = 1,
  compactAbove = smallestCompaction,
): Promise<void> {
  const store = await openDirectoryStore(folder, compactAbove);
  for (let number = from; number <= to; number += 1) {
    await put(store, `0x${String(number).padStart(2, "0")}`);
    if (number % 7 === 0) await put(store, `0x${String(number - 5).padStart(2, "0")}`, 1);
  }
  await store.close();
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
