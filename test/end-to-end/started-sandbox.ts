import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { SandboxDescription } from "../../sandbox/options/description.ts";
import { cli } from "../cli/program.ts";

/** A sandbox in a process of its own, started as a person starts it. */
export interface StartedSandbox extends AsyncDisposable {
  description: SandboxDescription;
  /** Ends the process with a signal and resolves with its exit code once it is gone. */
  end(signal: NodeJS.Signals): Promise<number | null>;
}

/** Starts `routing-sandbox start` on free ports and waits until it has published itself. */
export async function startSandbox(folder: string, ...options: string[]): Promise<StartedSandbox> {
  return await startWith(process.execPath, [], folder, options);
}

/** Starts it where no file may grow beyond so many blocks of 512 or 1024 bytes (`ulimit -f`). */
export async function startLimited(
  blocks: number,
  folder: string,
  ...options: string[]
): Promise<StartedSandbox> {
  const limit = `ulimit -f ${blocks}; exec "$0" "$@"`;
  return await startWith("sh", ["-c", limit, process.execPath], folder, options);
}

/** Starts it with a program that gets further arguments before those of the command line. */
export async function startWith(
  program: string,
  before: readonly string[],
  folder: string,
  options: readonly string[],
): Promise<StartedSandbox> {
  const ports = ["api", "docs", "rpc", "control"].flatMap((name) => [`--${name}-port`, "0"]);
  const child = spawn(program, [...before, cli, "start", "--data-dir", folder, ...ports, ...options], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk) => {
      output += chunk;
    });
  const exited = once(child, "exit");
  const description = await published(folder, child, () => output);
  const end = async (signal: NodeJS.Signals) => {
    if (child.exitCode === null && child.signalCode === null) child.kill(signal);
    await exited;
    return child.exitCode;
  };
  return {
    description,
    end,
    async [Symbol.asyncDispose]() {
      await end("SIGTERM");
    },
  };
}

/** Waits for the `sandbox.json` of this very process. */
async function published(
  folder: string,
  child: ChildProcess,
  output: () => string,
): Promise<SandboxDescription> {
  for (;;) {
    if (child.exitCode !== null) throw new Error(`The sandbox ended with ${child.exitCode}:\n${output()}`);
    const text = await readFile(join(folder, "sandbox.json"), "utf8").catch(() => null);
    if (text !== null) {
      const description: SandboxDescription = JSON.parse(text);
      if (description.pid === child.pid) return description;
    }
    await pause(10);
  }
}
