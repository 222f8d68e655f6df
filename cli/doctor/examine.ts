import { once } from "node:events";
import { access, constants } from "node:fs/promises";
import { createServer } from "node:net";
import { codeOf, messageOf } from "../../protocol/coded-error.ts";
import { anvilBinary, anvilVersion } from "../../sandbox/chain/anvil/anvil-binary.ts";
import { AnvilError } from "../../sandbox/chain/anvil/anvil-error.ts";
import { startAnvil } from "../../sandbox/chain/anvil/start-anvil.ts";
import { findGenesis } from "../../sandbox/chain/genesis/genesis-cache.ts";
import { genesisKey } from "../../sandbox/chain/genesis/genesis-key.ts";
import { howToRepair } from "../../sandbox/lib/package-root.ts";
import { findListener, listProcesses } from "../../sandbox/lib/processes/processes.ts";
import type { SandboxDescription } from "../../sandbox/options/description.ts";
import { findRunning } from "../running/find-running.ts";
import { examineDataDirectory } from "./data-directory.ts";
import { broken, type Examined, type Finding, healthy } from "./finding.ts";
import { examineClock, examineDisk, examineNode, examinePlatform, examineProxies } from "./machine.ts";

/** Looks at everything that has to be right for a sandbox to start on this machine; changes nothing. */
export async function examine(examined: Examined): Promise<Finding[]> {
  const { dataDirectory, ports, environment } = examined;
  // Files that it cannot read are found below.
  const running = await findRunning(dataDirectory).catch(() => null);
  return [
    examineNode(),
    examinePlatform(),
    await examineAnvil(),
    await examineOrphans(),
    await examineGenesis(),
    ...(await examineDataDirectory(dataDirectory, running)),
    await examineDisk(dataDirectory),
    await examineClock(dataDirectory),
    examineProxies(environment),
    ...(await examinePorts(ports, running)),
  ];
}

/** Checks that Anvil is installed, may be executed, and starts. */
async function examineAnvil(): Promise<Finding> {
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
async function examineOrphans(): Promise<Finding> {
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

/** Checks that the compiled contracts and the prepared chain exist, are complete and belong to this version. */
async function examineGenesis(): Promise<Finding> {
  const check = "prepared chain";
  const remedy = `To build the prepared chain again, ${howToRepair()}.`;
  try {
    const genesis = await findGenesis(await genesisKey());
    return genesis === undefined
      ? broken(check, "It is missing, damaged, or was built with other contracts or another Anvil.", remedy)
      : healthy(
          check,
          `It is complete and has these contracts, up to block ${genesis.deployment.block.number}.`,
        );
  } catch (error) {
    return broken(check, messageOf(error), remedy);
  }
}

/** Checks that each port is given to one option only, and is free or the running sandbox's own. */
async function examinePorts(
  ports: { readonly [option: string]: number },
  running: SandboxDescription | null,
): Promise<Finding[]> {
  const options = Object.keys(ports);
  const examined = options.map(async (option) => {
    const port = ports[option] ?? 0;
    const [first, second] = options.filter((other) => ports[other] === port);
    if (port === 0 || first === undefined || second === undefined)
      return await examinePort(option, port, running);
    return broken(
      `port ${port} (${option})`,
      `${first} and ${second} have the same port ${port}.`,
      "Choose another port for one of them, or 0 for any free port.",
    );
  });
  return await Promise.all(examined);
}

/** Checks that a port is free, or the running sandbox's own. */
async function examinePort(
  option: string,
  port: number,
  running: SandboxDescription | null,
): Promise<Finding> {
  const check = `port ${port} (${option})`;
  const own = Object.values(running?.urls ?? {}).some((url) => new URL(url).port === String(port));
  if (own) return healthy(check, `The running sandbox (process ${running?.pid}) listens there.`);
  const refusal = await tryPort(port);
  if (refusal === null) return healthy(check, "It is free.");
  if (refusal !== "EADDRINUSE")
    return broken(
      check,
      `It may not be used (${refusal}).`,
      `Choose another port with ${option}, or 0 for any free port.`,
    );
  const owner = await findListener(port);
  const who =
    owner === undefined
      ? "Another user's process"
      : `Process ${owner.pid} (${owner.command.trim().slice(0, 120)})`;
  return broken(
    check,
    `${who} listens there.`,
    `End that process, or choose another port with ${option}, or 0 for any free port.`,
  );
}

async function tryPort(port: number): Promise<string | null> {
  const server = createServer();
  try {
    server.listen(port, "127.0.0.1");
    await once(server, "listening");
    return null;
  } catch (error) {
    return codeOf(error) ?? String(error);
  } finally {
    server.close();
  }
}
