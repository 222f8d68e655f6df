import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { type FileHandle, rm } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { lockForChild, makeDataDirectory, removeUnused } from "../../sandbox/data-directory/lock.ts";
import type { SandboxDescription } from "../../sandbox/options/description.ts";
import { describeFileError } from "../../server/lib/describe-file-error.ts";
import { openFile } from "../../server/lib/file-kind.ts";
import { makeDirectory } from "../../server/lib/make-directory.ts";
import { interruption, type Terminal } from "../terminal.ts";
import { exitCodeOf } from "./guarded-command.ts";

/** The report of a detached process whose sandbox answers. */
export interface DetachedStart {
  readonly description: SandboxDescription;
  readonly resumed: boolean;
  readonly milliseconds: number;
}

/**
 * Runs this command again in a process that stays when this one ends, with its output appended to a file. Until that process takes the data
 * directory, this one has taken it, so that `stop` finds the start.
 *
 * @returns null if it failed or was interrupted: then its output is on standard error, the exit code is set, and a log file in a folder that
 * was not there is gone.
 */
export async function startDetached(
  terminal: Terminal,
  logFile: string,
  directory: string,
): Promise<DetachedStart | null> {
  const folder = dirname(resolve(logFile));
  const make = folder === resolve(directory) ? makeDataDirectory : makeDirectory;
  const made = await make(folder).catch((cause: unknown) => refuseFile(logFile, cause));
  await using log = await openFile(logFile, "a+", 0o600).catch((cause: unknown) =>
    refuseFile(logFile, cause),
  );
  const { size: before } = await log.stat();
  const interrupted = interruption(terminal);
  const hold = await holdDirectory(directory);
  const [, program = "", ...words] = process.argv;
  const child = spawn(process.execPath, [...process.execArgv, program, ...words, "--detached"], {
    detached: true,
    stdio: ["ignore", log.fd, log.fd, "ipc"],
  });
  const ended = once(child, "exit");
  const started = await Promise.race([reportOf(child), ended.then(() => null), interrupted]);
  if (typeof started === "object" && started !== null) {
    child.disconnect();
    child.unref();
    return started;
  }
  if (started !== null) child.kill("SIGTERM");
  await ended;
  terminal.exitCode =
    started === null ? child.exitCode || 1 : exitCodeOf(started === "interrupt" ? "SIGINT" : "SIGTERM");
  terminal.stderr.write(await readFrom(log, before));
  await hold.end();
  if (made !== undefined) {
    await rm(logFile, { force: true });
    await removeUnused(folder);
  }
  return null;
}

/** Takes the data directory until the started process does. If that cannot be done, the started process says why. */
async function holdDirectory(directory: string): Promise<{ end: () => Promise<void> }> {
  try {
    const made = await makeDataDirectory(directory);
    const release = await lockForChild(directory);
    return {
      async end() {
        await release();
        if (made !== undefined) await removeUnused(directory);
      },
    };
  } catch {
    return { end: async () => {} };
  }
}

async function reportOf(child: ChildProcess): Promise<DetachedStart> {
  const [report]: [DetachedStart] = await once(child, "message").then(([message]) => [message]);
  return report;
}

/** Reads a file from a position to its end. */
async function readFrom(file: FileHandle, position: number): Promise<string> {
  const { size } = await file.stat();
  const { buffer } = await file.read(Buffer.alloc(size - position), 0, size - position, position);
  return buffer.toString();
}

function refuseFile(file: string, cause: unknown): never {
  throw new Error(`${file} cannot be written: ${describeFileError(cause)}. Choose another with --log-file.`, {
    cause,
  });
}
