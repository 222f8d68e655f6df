import { readdirSync, readFileSync } from "node:fs";
import { listProcesses } from "../../../../sandbox/lib/processes/processes.ts";

/** The process ids of an Anvil and of the guard that ends it with its parent. */
export interface FoundAnvil {
  anvil: number;
  guard: number;
}

/** Finds the Anvils of which a process is the parent. */
export async function findAnvils(parent: number): Promise<FoundAnvil[]> {
  const guards = (await childrenOf(parent)).filter(({ command }) => command.includes("guard.sh"));
  const found = guards.map(async ({ pid: guard }) =>
    (await childrenOf(guard))
      .filter(({ command }) => /\banvil\b/.test(command) && !command.includes("guard.sh"))
      .map(({ pid: anvil }) => ({ anvil, guard })),
  );
  return (await Promise.all(found)).flat();
}

/** The children of a process. A look at all that is known of all processes would take longer than an Anvil needs to listen. */
async function childrenOf(parent: number): Promise<{ pid: number; command: string }[]> {
  if (process.platform !== "linux")
    return (await listProcesses()).filter(({ parentPid }) => parentPid === parent);
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name) && parentOf(name) === parent);
  return pids.map((pid) => ({ pid: Number(pid), command: read(pid, "cmdline").replaceAll("\0", " ") }));
}

function parentOf(pid: string): number {
  const stat = read(pid, "stat");
  return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
}

/** Reads a file of the kernel about a process; empty for one that has ended. */
function read(pid: string, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    return "";
  }
}
