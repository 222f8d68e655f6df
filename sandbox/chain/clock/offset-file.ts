import { readFile } from "node:fs/promises";
import { z } from "zod";
import { replaceFile } from "../../../server/replace-file.ts";
import { GenesisError } from "../genesis/genesis-error.ts";

const offsetSchema = z.object({ offset: z.int() });

/** Reads the seconds by which a live clock was ahead of the wall clock; 0 when nothing was kept. */
export async function readKeptOffset(file: string | undefined): Promise<number> {
  if (file === undefined) return 0;
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return null;
    throw error;
  });
  if (text === null) return 0;
  try {
    return offsetSchema.parse(JSON.parse(text)).offset;
  } catch (cause) {
    throw new GenesisError(
      "mismatch",
      `${file} cannot be read as the offset of a clock. Restore it, or remove it to go on from the latest block.`,
      { cause },
    );
  }
}

/** Writes the seconds by which a live clock is ahead of the wall clock, to be read by the next run. */
export async function keepOffset(file: string | undefined, offset: number): Promise<void> {
  if (file !== undefined) await replaceFile(file, JSON.stringify({ offset }));
}
