import { execFile } from "node:child_process";
import { readdir, readFile, readlink } from "node:fs/promises";
import { promisify } from "node:util";
import { findProcess } from "../../sandbox/chain/anvil/guard-record.ts";

const execute = promisify(execFile);

/** A process of this machine, as far as this user may see it. */
export interface MachineProcess {
  pid: number;
  parentPid: number;
  command: string;
}

/** All processes that this user may see. */
export async function listProcesses(): Promise<MachineProcess[]> {
  if (process.platform === "linux") {
    const found = await Promise.all(
      (await pids()).map(async (pid) => {
        const one = await findProcess(pid);
        return one === undefined ? [] : [{ pid, ...one }];
      }),
    );
    return found.flat();
  }
  const { stdout } = await execute("ps", ["-axwwo", "pid=,ppid=,command="], { maxBuffer: 16 * 2 ** 20 });
  return [...stdout.matchAll(/^ *(\d+) +(\d+) +(.*)$/gm)].map(([, pid, parentPid, command = ""]) => ({
    pid: Number(pid),
    parentPid: Number(parentPid),
    command,
  }));
}

/**
 * The process that listens on a TCP port, or undefined when this user may not see it.
 *
 * @example (await findListener(8545))?.command
 */
export async function findListener(port: number): Promise<MachineProcess | undefined> {
  const pid = process.platform === "linux" ? await linuxListener(port) : await otherListener(port);
  const found = pid === undefined ? undefined : await findProcess(pid);
  return pid === undefined || found === undefined ? undefined : { pid, ...found };
}

async function pids(): Promise<number[]> {
  return (await readdir("/proc")).filter((name) => /^\d+$/.test(name)).map(Number);
}

// The kernel names a socket by its inode in /proc/net/tcp, and whoever has it open in /proc/PID/fd.
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
  for (const pid of sockets.length === 0 ? [] : await pids()) {
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
