import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { TestProject } from "vitest/node";
import { installer, run } from "./run.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** The packed package. */
    tarball: string;
    /** A project into which nothing but the tarball was installed, to be copied. */
    installed: string;
    /** The folder of the oldest Node that the package says it runs on. */
    oldestNode: string;
    /** The folder of a Node that is too old for the package. */
    tooOldNode: string;
  }
}

const checkout = fileURLToPath(new URL("../..", import.meta.url));
const oldest = "22.14.0";
const tooOld = "20.19.0";

/** Packs the package and installs it once for all tests, and fetches the oldest Node that it has to run on, and an older one. */
export default async function pack(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), "routing-sandbox-package-"));
  const npm = { cwd: checkout, env: installer(dirname(process.execPath)) };
  await run("npm", ["pack", "--silent", "--pack-destination", folder], npm);
  const [tarball = ""] = await readdir(folder);
  const fetch = async (version: string) => {
    const node = ["--yes", "--prefer-offline", "--package", `node@${version}`, "--", "node", "--print"];
    const executable = await run("npx", [...node, "process.execPath"], { ...npm, cwd: folder });
    return dirname(executable.trim());
  };
  project.provide("tarball", join(folder, tarball));
  const oldestNode = await fetch(oldest);
  const installed = join(folder, "project");
  await mkdir(installed);
  await writeFile(join(installed, "package.json"), '{"name":"project","private":true,"type":"module"}');
  await run("npm", ["install", join(folder, tarball)], { cwd: installed, env: installer(oldestNode) });
  project.provide("installed", installed);
  project.provide("oldestNode", oldestNode);
  project.provide("tooOldNode", await fetch(tooOld));
  return async () => await rm(folder, { recursive: true, force: true });
}
