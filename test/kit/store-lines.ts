import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { lineSum, toLine } from "../../server/store/directory/checked-lines.ts";

/** Reads the lines of a store's snapshot or journal, without their checksums. */
// biome-ignore lint/suspicious/noExplicitAny: tests change members of lines of any kind
export async function readLines(file: string): Promise<any[]> {
  const lines = (await readFile(file, "utf8")).split("\n").filter((line) => line !== "");
  return lines.map((line) => {
    const { sum: _, ...value } = JSON.parse(line);
    return value;
  });
}

/** Writes the lines of a snapshot, with their checksums and that of the whole. */
export async function writeSnapshot(file: string, values: readonly object[]): Promise<void> {
  const lines = values.slice(0, -1).map(toLine);
  const digest = createHash("sha256").update(lines.map(lineSum).join("")).digest("hex");
  await writeFile(file, [...lines, toLine({ ...values.at(-1), lines: digest })].join(""));
}
