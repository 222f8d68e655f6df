import { readFile } from "node:fs/promises";

/** The processes that keep a chain, as the guard script writes them down while they run. */
export interface GuardRecord {
  readonly guardPid: number;
  readonly anvilPid: number;
  /** The process that started the guard. */
  readonly ownerPid: number;
}

/**
 * Reads a guard's record, or `undefined` when there is none.
 *
 * @throws SyntaxError when the file is not a record.
 */
export async function readGuardRecord(file: string): Promise<GuardRecord | undefined> {
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  if (text === undefined) return undefined;
  const [guardPid, anvilPid, ownerPid] = text.trim().split(" ").map(Number);
  if (!isPid(guardPid) || !isPid(anvilPid) || !isPid(ownerPid)) {
    throw new SyntaxError(
      `${file} does not name the processes that wrote it; remove it if no Anvil is running.`,
    );
  }
  return { guardPid, anvilPid, ownerPid };
}

function isPid(value: number | undefined): value is number {
  return value !== undefined && Number.isSafeInteger(value) && value > 0;
}
