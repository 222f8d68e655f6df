import { readFileSync } from "node:fs";

/** Names one process for good: its id may be given again, its start may not. */
export interface ProcessRecord {
  pid: number;
  /** When it started, as the system tells it; null where the system does not. */
  started: string | null;
}

/** The record of a running process. */
export function recordProcess(pid: number): ProcessRecord {
  return { pid, started: startOf(pid) };
}

/** Tells whether the recorded process still runs. */
export function isRunning({ pid, started }: ProcessRecord): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ESRCH") return false;
  }
  return started === null || startOf(pid) === started;
}

/** Linux tells a process's start in clock ticks since boot, in field 22 of /proc/PID/stat. */
function startOf(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return fields[0] === "Z" ? "ended" : (fields[19] ?? null);
  } catch {
    return null;
  }
}
