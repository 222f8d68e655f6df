import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { readdir, readFile, readlink } from "node:fs/promises";
import { promisify } from "node:util";
import { isNativeError } from "node:util/types";
import { z } from "zod";

const execute = promisify(execFile);

/** Names one process for good: its id may be given again, its start may not. */
export const processRecord = z.object({
  pid: z.int(),
  /** The start time of the process by the system; null if the system does not tell it. */
  started: z.string().nullable(),
});

/** The parsed form of {@link processRecord}. */
export type ProcessRecord = z.infer<typeof processRecord>;

/** A running process, as far as this user may see it. */
export interface RunningProcess {
  readonly pid: number;
  readonly parentPid: number;
  readonly command: string;
}

/** The record of a running process. */
export function recordProcess(pid: number): ProcessRecord {
  return { pid, started: startOf(pid) };
}

/** Tells whether the recorded process still runs. Where the system does not tell when processes started, one with its id counts as it. */
export function isRunning({ pid, started }: ProcessRecord): boolean {
  if (!isThere(pid)) return false;
  const now = started === null ? null : startOf(pid);
  return now === null || now === started;
}

/**
 * Sends a signal to a process, or to the group of a leader whose id is negated; a signal of 0 only asks whether it is there.
 *
 * @returns false when there is no such process.
 * @throws Error EPERM when it is another user's.
 */
export function signalProcess(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal);
  } catch (error) {
    // A test runner may have given this module another Error than the process has.
    if (isNativeError(error) && "code" in error && error.code === "ESRCH") return false;
    throw error;
  }
}

/** Ends this process as a crash does: no handler runs, nothing is flushed. */
export async function crashProcess(): Promise<never> {
  process.kill(process.pid, "SIGKILL");
  return await new Promise<never>(() => {});
}

/** Looks a process up by its id; `undefined` when there is none (a zombie, which only waits to be collected, counts as none). */
export async function findProcess(pid: number): Promise<RunningProcess | undefined> {
  try {
    if (process.platform !== "linux") {
      const [found] = await askPs("-p", String(pid));
      return found;
    }
    const { state, parentPid } = readStat(pid);
    const command = (await readFile(`/proc/${pid}/cmdline`, "utf8")).replaceAll("\0", " ");
    return state === "Z" ? undefined : { pid, parentPid, command };
  } catch {
    return undefined;
  }
}

/** All processes that this user may see. */
export async function listProcesses(): Promise<RunningProcess[]> {
  if (process.platform !== "linux") return await askPs("-ax");
  const found = await Promise.all((await linuxPids()).map(findProcess));
  return found.filter((one) => one !== undefined);
}

/**
 * Finds the running processes that have a variable in their environment, as a process and all that it starts have. Where `ps` does not show the
 * environment of a program, as macOS does not for those of its own, that program is missing.
 *
 * @example await processesWith("TMPDIR", folder)
 */
export async function processesWith(name: string, value: string): Promise<RunningProcess[]> {
  const variable = `${name}=${value}`;
  if (process.platform !== "linux")
    return (await askPs("-axE")).filter(({ command }) => command.split(" ").includes(variable));
  const found = (await linuxPids()).map(async (pid) => {
    const environment = await readFile(`/proc/${pid}/environ`, "utf8").catch(() => "");
    return environment.split("\0").includes(variable) ? await findProcess(pid) : undefined;
  });
  return (await Promise.all(found)).filter((one) => one !== undefined);
}

/** The process that listens on a TCP port, or undefined when this user may not see it. */
export async function findListener(port: number): Promise<RunningProcess | undefined> {
  const pid = process.platform === "linux" ? await linuxListener(port) : await otherListener(port);
  return pid === undefined ? undefined : await findProcess(pid);
}

function isThere(pid: number): boolean {
  try {
    return signalProcess(pid, 0);
  } catch {
    // Another user's process may not be signaled, but is there.
    return true;
  }
}

function startOf(pid: number): string | null {
  try {
    const { state, started } = readStat(pid);
    return state === "Z" ? "ended" : started;
  } catch {
    return null;
  }
}

// ps is missing in many small images, so on Linux the kernel's own files are read.
function readStat(pid: number): { state: string; parentPid: number; started: string | null } {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  // The second field, the program's name in parentheses, may itself hold spaces and parentheses.
  const [state = "", parentPid, ...rest] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  // Field 22 of the file, in clock ticks since boot.
  return { state, parentPid: Number(parentPid), started: rest[17] ?? null };
}

async function askPs(...which: string[]): Promise<RunningProcess[]> {
  const columns = ["-o", "pid=", "-o", "ppid=", "-o", "stat=", "-o", "command=", "-ww"];
  const { stdout } = await execute("ps", [...columns, ...which], { maxBuffer: 16 * 2 ** 20 });
  return [...stdout.matchAll(/^ *(\d+) +(\d+) +(?!Z)\S+ +(.*)$/gm)].map(
    ([, pid, parentPid, command = ""]) => ({
      pid: Number(pid),
      parentPid: Number(parentPid),
      command,
    }),
  );
}

async function linuxPids(): Promise<number[]> {
  return (await readdir("/proc")).filter((name) => /^\d+$/.test(name)).map(Number);
}

// The kernel names a socket by its inode in /proc/net/tcp, and the processes that have it open in /proc/PID/fd.
async function linuxListener(port: number): Promise<number | undefined> {
  const tables = await Promise.all(
    ["tcp", "tcp6"].map((name) => readFile(`/proc/net/${name}`, "utf8").catch(() => "")),
  );
  const listening = "0A";
  const sockets = tables
    .flatMap((table) => table.split("\n").map((line) => line.trim().split(/\s+/)))
    .filter(
      ([, local = "", , state]) =>
        state === listening && Number.parseInt(local.split(":")[1] ?? "", 16) === port,
    )
    .map((fields) => `socket:[${fields[9]}]`);
  for (const pid of sockets.length === 0 ? [] : await linuxPids()) {
    const files = await readdir(`/proc/${pid}/fd`).catch(() => []);
    const open = await Promise.all(files.map((file) => readlink(`/proc/${pid}/fd/${file}`).catch(() => "")));
    if (open.some((target) => sockets.includes(target))) return pid;
  }
  return undefined;
}

async function otherListener(port: number): Promise<number | undefined> {
  const found = await execute("lsof", ["-nP", `-iTCP:${port}`, "-sTCP:LISTEN", "-t"]).catch(() => ({
    stdout: "",
  }));
  const pid = Number.parseInt(found.stdout, 10);
  return Number.isNaN(pid) ? undefined : pid;
}
