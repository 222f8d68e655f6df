import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { lock } from "proper-lockfile";
import { isRunning, type ProcessRecord, recordProcess } from "../../lib/process-record.ts";
import { SandboxError } from "../../lib/sandbox-error.ts";

/**
 * Takes a data directory for this process. The lock names the process, so that one left by a dead process blocks nobody.
 *
 * @returns a function that gives it back.
 * @throws SandboxError data_directory_in_use
 * @example const release = await lockDataDirectory(".sandbox")
 */
export async function lockDataDirectory(directory: string): Promise<() => Promise<void>> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const file = join(directory, "lock.json");
  // Two starters must not both find the same dead owner and both take its place.
  const retries = { retries: 100, minTimeout: 20, maxTimeout: 100 };
  const leave = await lock(directory, {
    lockfilePath: join(directory, "lock.taking"),
    stale: 5_000,
    retries,
  });
  try {
    const owner = await readOwner(file);
    if (owner !== null && isRunning(owner))
      throw new SandboxError(
        "data_directory_in_use",
        `Process ${owner.pid} runs a sandbox in ${directory}; stop it, or choose another directory with --data-dir.`,
      );
    await writeFile(file, JSON.stringify(recordProcess(process.pid)), { mode: 0o600 });
  } finally {
    await leave();
  }
  return async () => await rm(file, { force: true });
}

async function readOwner(file: string): Promise<ProcessRecord | null> {
  try {
    return JSON.parse(await readFile(file, "utf8"));
  } catch {
    // Absent, or torn by a crash while it was written: in either case nobody holds it.
    return null;
  }
}
