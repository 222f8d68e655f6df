import { access, constants } from "node:fs/promises";
import { messageOf } from "../../protocol/coded-error.ts";
import { anvilBinary, anvilVersion } from "../../sandbox/chain/anvil/anvil-binary.ts";
import { AnvilError } from "../../sandbox/chain/anvil/anvil-error.ts";
import { startAnvil } from "../../sandbox/chain/anvil/start-anvil.ts";
import { howToRepair } from "../../sandbox/lib/package-root.ts";
import { listProcesses } from "../../sandbox/lib/processes/processes.ts";
import { broken, type Finding, healthy } from "./finding.ts";

/** Checks that Anvil is installed, may be executed, and starts. */
export async function examineAnvil(): Promise<Finding> {
  const began = performance.now();
  try {
    const binary = anvilBinary();
    await access(binary, constants.X_OK).catch(() => {
      throw new AnvilError("start_failed", `${binary} may not be executed.`);
    });
    await (await startAnvil()).stop();
    const took = Math.round(performance.now() - began);
    return healthy("Anvil", `Anvil ${anvilVersion()} starts and stops in ${took} ms.`);
  } catch (error) {
    const found = messageOf(error);
    return broken(
      "Anvil",
      found,
      `Remove node_modules and ${howToRepair()}; it must be on a disk that allows execution.`,
    );
  }
}

/** Checks that no Anvil of this installation runs without its sandbox. */
export async function examineOrphans(): Promise<Finding> {
  const check = "orphans";
  let binary: string;
  try {
    binary = anvilBinary();
  } catch {
    return healthy(check, "No Anvil process runs.");
  }
  const processes = await listProcesses();
  const guards = new Set(
    processes.filter(({ command }) => command.includes("guard.sh")).map(({ pid }) => pid),
  );
  const orphans = processes.filter(
    ({ command, parentPid }) => command.startsWith(binary) && !guards.has(parentPid),
  );
  if (orphans.length === 0) return healthy(check, "Every Anvil process belongs to a sandbox.");
  const pids = orphans.map(({ pid }) => pid).join(" ");
  return broken(check, `Anvil runs without a sandbox: process ${pids}.`, `End this process: kill ${pids}`);
}
