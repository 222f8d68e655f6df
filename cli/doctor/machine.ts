import { readdir, stat, statfs } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { toTimestamp } from "../../protocol/values/time.ts";
import { genesisTimestamp } from "../../sandbox/chain/genesis/roles.ts";
import { explainOldNode, oldestNode } from "../../sandbox/lib/processes/node-version.ts";
import { broken, type Finding, healthy } from "./finding.ts";

const platforms = ["linux-x64", "linux-arm64", "darwin-x64", "darwin-arm64"];
/** In MiB: a long-lived chain with its states, and room to compact the store. */
const roomNeededMib = 500;
const secondsOfGrace = 5;

/** Checks that the package runs on this version of Node. */
export function examineNode(): Finding {
  const needed = oldestNode();
  const found = `This is Node ${process.versions.node}; the oldest supported version is ${needed}.`;
  return explainOldNode() === null
    ? healthy("Node", found)
    : broken("Node", found, `Install Node ${needed} or newer.`);
}

/** Checks that Anvil exists for this machine. */
export function examinePlatform(): Finding {
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
export async function examineDisk(dataDirectory: string): Promise<Finding> {
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
  const read = (name: string) => environment[name] || environment[name.toUpperCase()];
  const proxies = ["http_proxy", "all_proxy"].filter((name) => read(name) !== undefined);
  const exceptions = (read("no_proxy") ?? "").split(/[\s,]+/);
  if (proxies.length === 0) return healthy("proxy", "No proxy is set for 127.0.0.1.");
  const spared = exceptions.some((one) => ["*", "127.0.0.1", "127.0.0.0/8"].includes(one));
  const found = `${proxies.join(" and ")} is set, and no_proxy ${spared ? "names" : "does not name"} 127.0.0.1.`;
  return spared
    ? healthy("proxy", found)
    : broken(
        "proxy",
        `${found} curl and other programs would send requests for the sandbox to the proxy.`,
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
