import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { type FileHandle, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { lockForChild, makeDataDirectory, removeUnused } from "../../sandbox/data-directory/lock.ts";
import { temporaryFault, temporaryRemedy } from "../../sandbox/lib/temporary-fault.ts";
import { describeFileError } from "../../server/lib/describe-file-error.ts";
import { openFile } from "../../server/lib/file-kind.ts";
import { makeDirectory } from "../../server/lib/make-directory.ts";
import { unwritable } from "../../server/store/directory/directory-store.ts";
import { interruption, type Terminal } from "../terminal.ts";
import { exitCodeOf } from "./guarded-command.ts";

/** The files of a process in the background. */
interface DetachedFiles {
  /** The file that gets the output; null to keep it only until the process is ready. */
  readonly logFile: string | null;
  /** The data directory that the process will take; null for none. */
  readonly directory: string | null;
}

/**
 * Runs this command again in a process that stays when this one ends, with its output appended to a file. Until that process takes the data
 * directory, this one has taken it, so that `stop` finds the start.
 *
 * @returns the process's report that it is ready ({@link followStarter}); null if it failed or was interrupted: then its output is on standard error,
 * the exit code is set, and a log file in a folder that was not there is gone.
 */
export async function startDetached<Report extends object>(
  terminal: Terminal,
  { logFile, directory }: DetachedFiles,
): Promise<Report | null> {
  await using log = await (logFile === null ? temporaryLog() : openLogFile(logFile, directory));
  const { size: before } = await log.file.stat();
  const interrupted = interruption(terminal);
  const hold = directory === null ? null : await holdDirectory(directory);
  const [, program = "", ...words] = process.argv;
  const child = spawn(process.execPath, [...process.execArgv, program, ...words, "--detached"], {
    detached: true,
    stdio: ["ignore", log.file.fd, log.file.fd, "ipc"],
  });
  const ended = once(child, "exit");
  const started = await Promise.race([reportOf<Report>(child), ended.then(() => null), interrupted]);
  if (typeof started === "object" && started !== null) {
    child.disconnect();
    child.unref();
    return started;
  }
  if (started !== null) child.kill("SIGTERM");
  await ended;
  terminal.exitCode =
    started === null ? child.exitCode || 1 : exitCodeOf(started === "interrupt" ? "SIGINT" : "SIGTERM");
  terminal.stderr.write(await readFrom(log.file, before));
  await hold?.end();
  await log.discard();
  return null;
}

/** The connection of a detached process with the command that has started it. */
export interface Starter {
  /** Resolves when that command ends before it has got the report. */
  readonly lost: Promise<"termination">;
  /** Reports that this process is ready, so that the command ends. @returns false if the command has ended. */
  report(report: object): boolean;
}

/** Follows the command that has started this process in the background. */
export function followStarter(): Starter {
  const lost = Promise.withResolvers<"termination">();
  const end = () => lost.resolve("termination");
  process.once("disconnect", end);
  if (!process.connected) end();
  // The channel alone keeps no process alive whose start has failed.
  process.channel?.unref();
  return {
    lost: lost.promise,
    report(report) {
      // From here on it runs without the command.
      process.off("disconnect", end);
      if (!process.connected) return false;
      process.send?.(report);
      return true;
    },
  };
}

/** The file that gets the output of a detached process. */
interface DetachedLog extends AsyncDisposable {
  readonly file: FileHandle;
  /** Removes what a failed start leaves of it. */
  discard(): Promise<void>;
}

async function openLogFile(logFile: string, directory: string | null): Promise<DetachedLog> {
  const folder = dirname(resolve(logFile));
  const isInDirectory = directory !== null && folder === resolve(directory);
  const make = isInDirectory ? makeDataDirectory : makeDirectory;
  const refuse = (cause: unknown): never => {
    // No other log file helps where the directory itself refuses.
    if (isInDirectory && !existsSync(logFile)) throw unwritable(`The data directory ${directory}`, cause);
    throw new Error(
      `${logFile} cannot be written: ${describeFileError(cause)}. Choose another with --log-file.`,
      { cause },
    );
  };
  const made = await make(folder).catch(refuse);
  const file = await openFile(logFile, "a+", 0o600).catch(refuse);
  return {
    file,
    async discard() {
      if (made === undefined) return;
      await rm(logFile, { force: true });
      await removeUnused(folder);
    },
    [Symbol.asyncDispose]: async () => await file.close(),
  };
}

/** Opens a file that has no name any more: it is gone when the processes that write to it have ended. */
async function temporaryLog(): Promise<DetachedLog> {
  const fault = await temporaryFault();
  if (fault !== null) throw new Error(`${fault} ${temporaryRemedy}, or choose a file with --log-file.`);
  const folder = await mkdtemp(join(tmpdir(), "routing-sandbox-log-"));
  try {
    const file = await openFile(join(folder, "log"), "a+", 0o600);
    return { file, discard: async () => {}, [Symbol.asyncDispose]: async () => await file.close() };
  } finally {
    await rm(folder, { recursive: true });
  }
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

async function reportOf<Report>(child: ChildProcess): Promise<Report> {
  const [report]: [Report] = await once(child, "message").then(([message]) => [message]);
  return report;
}

/** Reads a file from a position to its end. */
async function readFrom(file: FileHandle, position: number): Promise<string> {
  const { size } = await file.stat();
  const { buffer } = await file.read(Buffer.alloc(size - position), 0, size - position, position);
  return buffer.toString();
}
