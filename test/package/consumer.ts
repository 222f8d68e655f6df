import { copyFile, link, mkdir, mkdtemp, readdir, readlink, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inject } from "vitest";
import { installer, run } from "./run.ts";

/** A user's project, which has the package from its tarball. */
export interface Consumer extends AsyncDisposable {
  folder: string;
  env: NodeJS.ProcessEnv;
  /** Runs a program of the project with the oldest Node, and answers what it printed. */
  run(program: string, ...args: string[]): Promise<string>;
}

/**
 * Copies a folder whose files are links to the same: a test that changes one of its files has to remove it first.
 * Files that npm writes in place are copied: through a link, one project's `npm install` would change the packages of all.
 */
async function linkFolder(from: string, to: string): Promise<void> {
  await mkdir(to);
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) await linkFolder(source, target);
    else if (entry.isSymbolicLink()) await symlink(await readlink(source), target);
    else if (/^\.?package(-lock)?\.json$/.test(entry.name)) await copyFile(source, target);
    else await link(source, target);
  }
}

/**
 * Makes a project that has the package from its tarball, in a home of its own, and installs others into it.
 *
 * @param packages - as npm takes them, with their versions.
 */
export async function installInto(...packages: string[]): Promise<Consumer> {
  const home = await mkdtemp(join(tmpdir(), "routing-sandbox-consumer-"));
  const folder = join(home, "project");
  const env = installer(inject("oldestNode"), home);
  await linkFolder(inject("installed"), folder);
  const start = async (program: string, ...args: string[]) => await run(program, args, { cwd: folder, env });
  if (packages.length > 0) await start("npm", "install", ...packages);
  return {
    folder,
    env,
    run: start,
    async [Symbol.asyncDispose]() {
      await rm(home, { recursive: true, force: true });
    },
  };
}
