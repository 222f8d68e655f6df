import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { createSandbox, type Sandbox } from "../../sandbox/create-sandbox.ts";

/** The command line's program, as `npm start` runs it. */
export const cli = fileURLToPath(new URL("../../.bundle/cli/main.cjs", import.meta.url));

/** Returns what a command prints to standard output. */
export async function runCli(...args: string[]): Promise<string> {
  return (await promisify(execFile)(process.execPath, [cli, ...args])).stdout;
}

/** Starts a sandbox in a data directory of its own, which commands find by `--data-dir`; `end` removes both. */
export async function startInFolder(): Promise<{
  sandbox: Sandbox;
  folder: string;
  end(): Promise<void>;
}> {
  const folder = await mkdtemp(join(tmpdir(), "routing-sandbox-"));
  const sandbox = await createSandbox({ dataDirectory: folder });
  const end = async () => {
    await sandbox.close();
    await rm(folder, { recursive: true });
  };
  return { sandbox, folder, end };
}
