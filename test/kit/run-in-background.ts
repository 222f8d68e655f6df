import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { cli } from "../cli/program.ts";

/** How a command ended. */
export interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** The options that give a sandbox any free ports. */
export const anyPorts = ["--api-port=0", "--docs-port=0", "--control-port=0", "--rpc-port=0"];

/**
 * Runs a command of the command line to its end, with a folder for temporary files that identifies all processes that it leaves
 * ({@link processesWith}).
 *
 * @example const { code } = await runIn(folder, "stop", "--data-dir", directory)
 */
export async function runIn(folder: string, ...args: string[]): Promise<Ended> {
  const child = spawn(process.execPath, [cli, ...args], {
    cwd: folder,
    env: { ...process.env, TMPDIR: folder },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const output = Promise.all([text(child.stdout), text(child.stderr)]);
  const [code] = await once(child, "exit");
  const [stdout, stderr] = await output;
  return { code, stdout, stderr };
}
