import { execFile } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { promisify } from "node:util";

const execute = promisify(execFile);

/**
 * Stops a process and returns once none of its threads runs: after the signal alone, one that is busy may still answer.
 *
 * @example
 * await stopProcess(anvil.pid);
 * process.kill(anvil.pid, "SIGCONT");
 */
export async function stopProcess(pid: number): Promise<void> {
  process.kill(pid, "SIGSTOP");
  while (!(await statesOfThreads(pid)).every((state) => state === "T"))
    await new Promise((resolve) => setImmediate(resolve));
}

async function statesOfThreads(pid: number): Promise<string[]> {
  if (process.platform !== "linux") {
    const { stdout } = await execute("ps", ["-o", "state=", "-p", String(pid)]);
    return [stdout.trim().charAt(0)];
  }
  const threads = await readdir(`/proc/${pid}/task`);
  const stats = await Promise.all(
    threads.map(async (thread) => await readFile(`/proc/${pid}/task/${thread}/stat`, "utf8")),
  );
  // The state follows the program's name, which is in parentheses.
  return stats.map((stat) => stat.charAt(stat.lastIndexOf(")") + 2));
}
