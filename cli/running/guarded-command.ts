import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { rm } from "node:fs/promises";
import { constants } from "node:os";
import type { Readable } from "node:stream";
import { describeFileError } from "../../server/lib/describe-file-error.ts";

/**
 * Ends the command and deletes a folder when the last writer of its input has ended: the process that started it, whatever ended that, and
 * a command that has not yet begun. Each line of the input names what to end: a process, a group as its negated id, or nothing.
 */
const guardScript = `
trap '' INT TERM HUP
while read -r line; do target=$line; done
if [ -n "$target" ] && kill -TERM "$target" 2>/dev/null; then
  tries=0
  while kill -0 "$target" 2>/dev/null && [ "$tries" -lt 200 ]; do sleep 0.01; tries=$((tries + 1)); done
  kill -KILL "$target" 2>/dev/null
fi
[ -z "$1" ] || rm -rf -- "$1"
`;

/** Names itself to the guard before it becomes the command, so that at no time a command runs that the guard does not know. */
const commandScript = `printf '%s\\n' "$1$$" >&3; shift; exec "$@" 3>&-`;

/** How a command ended: the exit code, or 128 and the number of the signal, as in a shell. */
type ExitCode = number;

/** A command that ends with this process, whatever ends it, and a folder that is deleted then. */
export class GuardedCommand implements AsyncDisposable {
  readonly #guard: ChildProcess;
  readonly #folder: string | null;
  #command: ChildProcess | null = null;
  /** The reason why the system has refused to start the guard; null if it has not. */
  #refusal: Error | null = null;
  /** The streams of its output; a process in a session of its own may keep them open. */
  #outputs: (Readable | null)[] = [];
  /** Whether the command has a process group of its own. */
  #ownGroup = false;
  /** The process group that the command has left. */
  #group: number | null = null;

  /** @param folder - the folder to delete at the end; null for none. It need not exist yet. */
  constructor(folder: string | null) {
    this.#folder = folder;
    this.#guard = spawn("/bin/sh", ["-c", guardScript, "sh", folder ?? ""], {
      // Out of the reach of Ctrl-C.
      detached: true,
      stdio: ["pipe", "ignore", "ignore"],
    });
    // A guard that was killed reads nothing.
    this.#guard.stdin?.on("error", () => {});
    this.#guard.once("error", (error) => {
      this.#refusal = error;
    });
  }

  /**
   * Runs a command with the standard streams of this process, or with no input and its output for a function.
   *
   * @returns its exit code, or 128 and the number of the signal that ended it.
   * @param onOutput - gets all output; the command then has a process group of its own also in a terminal.
   * @throws Error when something has ended the guard: nothing would end the command with this process; Error when the system refuses to start it.
   * @example await command.run(["pytest", "-x"], { ROUTING_API_URL: urls.api })
   */
  async run(
    words: readonly string[],
    environment: Readonly<Record<string, string>>,
    onOutput?: (chunk: Buffer) => void,
  ): Promise<ExitCode> {
    const stream = onOutput === undefined ? "inherit" : "pipe";
    const input = onOutput === undefined ? "inherit" : "ignore";
    // In a terminal it needs the group of this process to read from the terminal.
    this.#ownGroup = onOutput !== undefined || !process.stdin.isTTY;
    if (this.#refusal !== null) throw refused(this.#refusal);
    if (this.#hasGuardEnded || this.#guard.stdin?.destroyed)
      throw new Error(
        "The process that cleans up after the command was killed, so the command was not started. Run exec again.",
      );
    const command = spawn("/bin/sh", ["-c", commandScript, "sh", this.#ownGroup ? "-" : "", ...words], {
      detached: this.#ownGroup,
      env: { ...process.env, ...environment },
      stdio: [input, stream, stream, this.#guard.stdin],
    });
    this.#command = command;
    this.#outputs = [command.stdout, command.stderr];
    if (onOutput !== undefined) for (const output of this.#outputs) output?.on("data", onOutput);
    const [code, signal]: [number | null, NodeJS.Signals | null] = await once(command, "exit").then(
      ([exitCode, exitSignal]) => [exitCode, exitSignal],
      (cause: unknown) => {
        throw refused(cause);
      },
    );
    this.#command = null;
    this.#group = this.#ownGroup ? (command.pid ?? null) : null;
    // In a group of its own it may have left other processes, which end with it. Its own id may be another process's from now on.
    if (!this.#ownGroup) this.#guard.stdin?.write("\n");
    return signal === null ? (code ?? 0) : exitCodeOf(signal);
  }

  /** Whether processes of the command still run after its end; they end with it. */
  get hasLeftProcesses(): boolean {
    if (this.#group === null) return false;
    try {
      return process.kill(-this.#group, 0);
    } catch {
      return false;
    }
  }

  /** Sends a signal to the command, as a terminal (SIGINT, SIGHUP: to its whole group) or `kill` (SIGTERM) would. */
  signal(signal: NodeJS.Signals): void {
    const command = this.#command;
    if (command?.pid === undefined) return;
    // The terminal has sent it to the command as well.
    if (!this.#ownGroup && signal === "SIGINT") return;
    if (this.#ownGroup && signal !== "SIGTERM") process.kill(-command.pid, signal);
    else command.kill(signal);
  }

  /** Ends what still runs of the command, deletes the folder, and returns once both are gone. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#hasGuardEnded) {
      const ended = once(this.#guard, "exit");
      this.#guard.stdin?.end();
      await ended;
    }
    for (const output of this.#outputs) output?.destroy();
    // A guard that was killed has deleted nothing.
    if (this.#folder !== null) await rm(this.#folder, { recursive: true, force: true });
  }

  get #hasGuardEnded(): boolean {
    return this.#refusal !== null || this.#guard.exitCode !== null || this.#guard.signalCode !== null;
  }
}

/** Returns the exit code that shells have for a program that a signal ended, as in 143 for SIGTERM. */
export function exitCodeOf(signal: NodeJS.Signals): ExitCode {
  return 128 + constants.signals[signal];
}

function refused(cause: unknown): Error {
  return new Error(
    `The system refused to start the command: ${describeFileError(cause)}. Allow more open files and processes (ulimit -n, ulimit -u), and run exec again.`,
    { cause },
  );
}
