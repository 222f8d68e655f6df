import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";

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

/** A running process: who started it and with which command line. */
export interface RunningProcess {
  readonly parentPid: number;
  readonly command: string;
}

/**
 * Looks a process up by its id; `undefined` when there is none (a zombie, which only waits to be collected, counts as none).
 *
 * @example
 * (await findProcess(4711))?.command.includes("--dump-state");
 */
export async function findProcess(pid: number): Promise<RunningProcess | undefined> {
  try {
    const columns = ["-o", "ppid=", "-o", "stat=", "-o", "command=", "-ww", "-p", String(pid)];
    const found =
      process.platform === "linux"
        ? await readProcessFiles(pid)
        : /^\s*(\d+)\s+(\S+)\s+(.*)$/.exec((await promisify(execFile)("ps", columns)).stdout.trim());
    const [, parentPid, state, command] = found ?? [];
    if (parentPid === undefined || command === undefined || state?.startsWith("Z") === true) return undefined;
    return { parentPid: Number(parentPid), command };
  } catch {
    return undefined;
  }
}

// ps is missing in many small images, so on Linux the kernel's own files are read.
async function readProcessFiles(pid: number): Promise<readonly (string | undefined)[]> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8");
  // The second field, the program's name in parentheses, may itself hold spaces and parentheses.
  const [state, parentPid] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const command = (await readFile(`/proc/${pid}/cmdline`, "utf8")).replaceAll("\0", " ");
  return [stat, parentPid, state, command];
}

function isPid(value: number | undefined): value is number {
  return value !== undefined && Number.isSafeInteger(value) && value > 0;
}
