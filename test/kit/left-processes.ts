import { readdir, readFile } from "node:fs/promises";
import { findProcess, type RunningProcess } from "../../sandbox/lib/processes/processes.ts";

/**
 * Finds the running processes that have a variable in their environment, as a process and all that it starts have. Linux only.
 *
 * @example expect(await processesWith("TMPDIR", folder)).toEqual([])
 */
export async function processesWith(name: string, value: string): Promise<RunningProcess[]> {
  const pids = (await readdir("/proc")).filter((entry) => /^\d+$/.test(entry));
  const found = pids.map(async (pid) => {
    const environment = await readFile(`/proc/${pid}/environ`, "utf8").catch(() => "");
    return environment.split("\0").includes(`${name}=${value}`) ? await findProcess(Number(pid)) : undefined;
  });
  return (await Promise.all(found)).filter((one) => one !== undefined);
}
