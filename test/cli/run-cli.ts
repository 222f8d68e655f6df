import { EventEmitter } from "node:events";
import { PassThrough, Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { runCommand } from "../../cli/command-line.ts";
import type { Terminal } from "../../cli/terminal.ts";

/** How a command ended. */
export interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}

/** A command that runs in this process. */
export interface RunningCommand {
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** The exit code. */
  readonly exited: Promise<number>;
  /** Has the command see a signal, as one to its process. */
  kill(signal: NodeJS.Signals): void;
}

/**
 * Starts a command in this process. Its output can be read while it runs.
 *
 * @param input - the standard input.
 * @example const { stdout, exited, kill } = startCli(["logs", "--follow", "--data-dir", folder])
 */
export function startCli(words: readonly string[], input = ""): RunningCommand {
  const [stdout, stderr, signals] = [new PassThrough(), new PassThrough(), new EventEmitter()];
  const terminal: Terminal = {
    // In chunks, as the system gives it.
    stdin: Readable.from(input.match(/.{1,65536}/gs) ?? [""]),
    stdout,
    stderr,
    once: (signal, listener) => signals.once(signal, listener),
  };
  const exited = runCommand(terminal, words).then(() => {
    for (const output of [stdout, stderr]) output.end();
    return Number(terminal.exitCode ?? 0);
  });
  return { stdout, stderr, exited, kill: (signal) => void signals.emit(signal) };
}

/** Runs a command in this process to its end, also if it fails. */
export async function tryCli(words: readonly string[], input?: string): Promise<Ended> {
  const { stdout, stderr, exited } = startCli(words, input);
  const [code, printed, complaint] = await Promise.all([exited, text(stdout), text(stderr)]);
  return { code, stdout: printed, stderr: complaint };
}

/** Returns what a command, which runs in this process, prints to standard output. @throws Error with how it ended if it fails. */
export async function runCli(...words: string[]): Promise<string> {
  const ended = await tryCli(words);
  if (ended.code === 0) return ended.stdout;
  throw Object.assign(new Error(`${words.join(" ")} failed: ${ended.stderr}`), ended);
}
