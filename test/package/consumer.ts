import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
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
 * Makes an empty project in an empty home and installs the package and others into it.
 *
 * @param packages - as npm takes them, with their versions.
 */
export async function installInto(...packages: string[]): Promise<Consumer> {
  const home = await mkdtemp(join(tmpdir(), "routing-sandbox-consumer-"));
  const folder = join(home, "project");
  const env = installer(inject("oldestNode"), home);
  await mkdir(folder);
  await writeFile(join(folder, "package.json"), '{"name":"project","private":true,"type":"module"}');
  const start = async (program: string, ...args: string[]) => await run(program, args, { cwd: folder, env });
  await start("npm", "install", inject("tarball"), ...packages);
  return {
    folder,
    env,
    run: start,
    async [Symbol.asyncDispose]() {
      await rm(home, { recursive: true, force: true });
    },
  };
}
