import { once } from "node:events";
import { access, constants, readdir, stat, statfs } from "node:fs/promises";
import { createServer } from "node:net";
import { dirname, join, resolve } from "node:path";
import { codeOf, messageOf } from "../../protocol/coded-error.ts";
import { toTimestamp } from "../../protocol/values/time.ts";
import { anvilBinary, anvilVersion } from "../../sandbox/chain/anvil/anvil-binary.ts";
import { AnvilError } from "../../sandbox/chain/anvil/anvil-error.ts";
import { startAnvil } from "../../sandbox/chain/anvil/start-anvil.ts";
import { findGenesis } from "../../sandbox/chain/genesis/genesis-cache.ts";
import { genesisKey } from "../../sandbox/chain/genesis/genesis-key.ts";
import { genesisTimestamp } from "../../sandbox/chain/genesis/roles.ts";
import { howToRepair } from "../../sandbox/lib/package-root.ts";
import { explainOldNode, oldestNode } from "../../sandbox/lib/processes/node-version.ts";
import { findListener, listProcesses } from "../../sandbox/lib/processes/processes.ts";
import { temporaryFault, temporaryRemedy } from "../../sandbox/lib/temporary-fault.ts";
import type { SandboxDescription } from "../../sandbox/options/description.ts";
import { findRunning } from "../running/find-running.ts";
import { examineDataDirectory } from "./data-directory.ts";
import { broken, type Examined, type Finding, healthy } from "./finding.ts";
import { examineDatabase, examineParts } from "./services.ts";

/** Looks at everything that has to be right for a sandbox to start on this machine; changes nothing. */
export async function examine(examined: Examined): Promise<Finding[]> {
  const { dataDirectory, ports, store, onNode = false, environment } = examined;
  // Files that it cannot read are found below.
  const running = await findRunning(dataDirectory).catch(() => null);
  return [
    examineNode(),
    examinePlatform(),
    await examineAnvil(),
    await examineOrphans(),
    await examineGenesis(),
    ...(await examineDataDirectory(dataDirectory, running, store !== undefined)),
    ...(running === null ? [] : [await examineParts(running)]),
    ...(store === undefined ? [] : [await examineDatabase(store, dataDirectory, onNode)]),
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
    // A package whose folder is read-only has the prepared chain there.
    const fault = genesis === undefined ? await temporaryFault() : null;
    if (fault !== null) return broken(check, fault, `${temporaryRemedy}.`);
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
export async function examinePort(
  option: string,
  port: number,
  running: SandboxDescription | null,
): Promise<Finding> {
  const check = `port ${port} (${option})`;
  if (port === 0) return healthy(check, "A start takes any free port.");
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

const platforms = ["linux-x64", "linux-arm64", "darwin-x64", "darwin-arm64"];
/** In MiB: a long-lived chain with its states, and room to compact the store. */
const roomNeededMib = 500;
const secondsOfGrace = 5;

/** Checks that the package runs on this version of Node. */
function examineNode(): Finding {
  const needed = oldestNode();
  const found = `This is Node ${process.versions.node}; the oldest supported version is ${needed}.`;
  return explainOldNode() === null
    ? healthy("Node", found)
    : broken("Node", found, `Install Node ${needed} or newer.`);
}

/** Checks that Anvil exists for this machine. */
function examinePlatform(): Finding {
  const platform = `${process.platform}-${process.arch}`;
  return platforms.includes(platform)
    ? healthy("platform", `This is ${platform}.`)
    : broken(
        "platform",
        `There is no Anvil for ${platform}.`,
        "Use Linux or macOS on x64 or arm64 (on Windows: inside WSL 2).",
      );
}

/** Checks the free space where the data directory is, or will be. */
async function examineDisk(dataDirectory: string): Promise<Finding> {
  const { bavail, bsize } = await statfs(await nearestFolder(resolve(dataDirectory)));
  const found = `${Math.round((bavail * bsize) / 2 ** 20)} MiB are free on the disk of ${dataDirectory}.`;
  return bavail * bsize >= roomNeededMib * 2 ** 20
    ? healthy("disk", found)
    : broken("disk", found, `Free ${roomNeededMib} MiB, or choose a folder on another disk with --data-dir.`);
}

/** Checks that the wall clock, which mode `live` follows, is not behind the chain or its files. */
export async function examineClock(dataDirectory: string): Promise<Finding> {
  const now = Math.floor(Date.now() / 1_000);
  const latest = Math.max(genesisTimestamp, ...(await timesOf(dataDirectory)));
  return now + secondsOfGrace >= latest
    ? healthy("clock", `It is ${toTimestamp(now)}.`)
    : broken(
        "clock",
        `This machine's clock is at ${toTimestamp(now)}, but the data of the sandbox is from ${toTimestamp(latest)}.`,
        "Set the clock, or use --mode deterministic, which does not use it.",
      );
}

/** Checks that no proxy would get the requests for 127.0.0.1. */
export function examineProxies(environment: { readonly [name: string]: string | undefined }): Finding {
  const spellings = (name: string) => [name, name.toUpperCase()];
  const setAs = (name: string) => spellings(name).find((spelling) => environment[spelling]);
  const proxies = ["http_proxy", "all_proxy"].flatMap((name) => setAs(name) ?? []);
  const exceptions = (environment[setAs("no_proxy") ?? ""] ?? "").split(/[\s,]+/);
  if (proxies.length === 0) return healthy("proxy", "No proxy is set for 127.0.0.1.");
  const spared = exceptions.some((one) => ["*", "127.0.0.1", "127.0.0.0/8"].includes(one));
  const found = `${proxies.join(" and ")} is set, and no_proxy ${spared ? "names" : "does not name"} 127.0.0.1.`;
  return spared
    ? healthy("proxy", found)
    : broken(
        "proxy",
        `${found} Programs that read ${proxies.length === 1 ? "it" : "them"} would send requests for the sandbox to the proxy.`,
        "Set no_proxy=127.0.0.1,localhost as well.",
      );
}

async function nearestFolder(folder: string): Promise<string> {
  const isFolder = await stat(folder).then(
    (found) => found.isDirectory(),
    () => false,
  );
  return isFolder || folder === dirname(folder) ? folder : await nearestFolder(dirname(folder));
}

/** Returns the modification times of the files of a data directory, in Unix seconds. */
async function timesOf(folder: string): Promise<number[]> {
  const names = await readdir(folder).catch(() => []);
  const times = names.map(async (name) => Math.floor((await stat(join(folder, name))).mtimeMs / 1_000));
  return (await Promise.allSettled(times)).flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
}
