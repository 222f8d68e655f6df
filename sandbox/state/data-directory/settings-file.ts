import { existsSync } from "node:fs";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { canonicalJson } from "../../../protocol/canonical-json.ts";
import { replaceFile, syncDirectory } from "../../../server/replace-file.ts";
import { SandboxError } from "../../lib/sandbox-error.ts";
import { defaultPrograms, programSchema } from "../../options/programs.ts";

/** What a sandbox was made with; it cannot continue with anything else. */
export const keptSettings = z.object({
  version: z.literal(1),
  seed: z.string(),
  mode: z.enum(["deterministic", "live"]),
  programs: z.array(programSchema).default([...defaultPrograms]),
  /** Whether the records are in a database, and only the chain is here. */
  in_database: z.boolean().default(false),
});

/** What {@link keptSettings} describes. */
export type KeptSettings = z.infer<typeof keptSettings>;

/** There from a directory's first start until that has succeeded: what a start leaves that fails or is killed is nothing to continue with. */
const unfinishedFile = "unfinished";

/**
 * Reads what a data directory was made with.
 *
 * @returns null for a new directory, and for one whose first start was not finished.
 * @throws SandboxError data_directory_mismatch when the file is of another version or damaged.
 */
export async function readKeptSettings(directory: string): Promise<KeptSettings | null> {
  const file = join(directory, "settings.json");
  const text = existsSync(join(directory, unfinishedFile))
    ? null
    : await readFile(file, "utf8").catch(() => null);
  if (text === null) return null;
  try {
    return keptSettings.parse(JSON.parse(text));
  } catch (cause) {
    throw new SandboxError(
      "data_directory_mismatch",
      `${file} cannot be read; start with --fresh to begin anew.`,
      { cause },
    );
  }
}

/**
 * Makes sure that a kept sandbox is resumed with the settings that it was made with. A new one's are written down, to be confirmed once
 * it has started.
 *
 * @throws SandboxError data_directory_mismatch
 */
export async function keepSettings(directory: string, wanted: KeptSettings, fresh: boolean): Promise<void> {
  const kept = fresh ? null : await readKeptSettings(directory);
  if (kept?.in_database === true && !wanted.in_database)
    throw new SandboxError(
      "data_directory_mismatch",
      `${directory} keeps its records in a database, and --store is missing. Name that database with --store, or start with --fresh to begin anew.`,
    );
  if (kept !== null && canonicalJson(kept) !== canonicalJson(wanted))
    throw new SandboxError(
      "data_directory_mismatch",
      `${directory} was made with ${describe(kept)}, not with ${describe(wanted)}; name none of them to continue with it, or start with --fresh to begin anew.`,
    );
  if (kept !== null) return;
  const unfinished = join(directory, unfinishedFile);
  if (fresh || existsSync(unfinished))
    for (const part of ["chain", "store"]) await rm(join(directory, part), { recursive: true, force: true });
  await replaceFile(unfinished, "");
  await replaceFile(join(directory, "settings.json"), JSON.stringify(wanted));
}

/** Says that a directory's first start has succeeded. */
export async function confirmSettings(directory: string): Promise<void> {
  await rm(join(directory, unfinishedFile), { force: true });
  await syncDirectory(directory);
}

function describe({ seed, mode, programs, in_database }: KeptSettings): string {
  const named = programs.map(({ id, name, account }) => `${id} (${name}, ${account})`);
  const place = in_database ? " and its records in a database (--store)" : "";
  return `seed "${seed}" in mode ${mode} with ${named.join(", ")}${place}`;
}
