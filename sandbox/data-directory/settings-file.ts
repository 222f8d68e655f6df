import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { SandboxError } from "../sandbox-error.ts";

/** What a data directory was made with; it cannot be resumed with anything else. */
const settingsSchema = z.object({
  version: z.literal(1),
  seed: z.string(),
  mode: z.enum(["deterministic", "live"]),
});

/** What a data directory was made with. */
export type KeptSettings = z.infer<typeof settingsSchema>;

/**
 * Reads what a data directory was made with.
 *
 * @returns null for a new directory.
 * @throws SandboxError data_directory_mismatch when the file is of another version or damaged.
 */
async function readKeptSettings(directory: string): Promise<KeptSettings | null> {
  const file = join(directory, "settings.json");
  const text = await readFile(file, "utf8").catch(() => null);
  if (text === null) return null;
  try {
    return settingsSchema.parse(JSON.parse(text));
  } catch (cause) {
    throw new SandboxError(
      "data_directory_mismatch",
      `${file} cannot be read; start with --fresh to begin anew.`,
      { cause },
    );
  }
}

/**
 * Makes sure that a kept sandbox is resumed with the settings that it was made with.
 *
 * @throws SandboxError data_directory_mismatch
 */
export async function keepSettings(directory: string, wanted: KeptSettings, fresh: boolean): Promise<void> {
  const kept = fresh ? null : await readKeptSettings(directory);
  if (kept !== null && (kept.seed !== wanted.seed || kept.mode !== wanted.mode))
    throw new SandboxError(
      "data_directory_mismatch",
      `${directory} was made with seed "${kept.seed}" in mode ${kept.mode}; start it so, or with --fresh to begin anew.`,
    );
  if (fresh) await rm(join(directory, "store"), { recursive: true, force: true });
  if (kept === null)
    await writeFile(join(directory, "settings.json"), JSON.stringify(wanted), { mode: 0o600 });
}
