import type { ChildProcess } from "node:child_process";
import { stripVTControlCharacters } from "node:util";

const logCharacters = 4_000;
/** The line that Anvil prints when it panics, before a long backtrace. */
const panicLine = /Message:\s+([^\n]{1,200})[^\n]*\n/;

/** The end of an Anvil process. */
export interface AnvilExit {
  /** The exit code of its guard, which is Anvil's own, or `undefined` after a signal. */
  readonly code: number | undefined;
  /** The message of a panic; undefined without one. */
  readonly panic: string | undefined;
  /** The reason why no replacement was started; undefined when none was needed. */
  readonly failure?: string;
}

/** The output and the end of an Anvil process. */
export interface AnvilOutput {
  /** The end of what it has printed. */
  readonly log: () => string;
  /** Resolves with the first match among the latest lines, as soon as it is printed. */
  readonly printed: (pattern: RegExp) => Promise<RegExpExecArray>;
  /** Resolves when Anvil has ended, for whatever reason; never rejects. */
  readonly exited: Promise<AnvilExit>;
  /** Resolves when it has ended and all that it printed was read. */
  readonly closed: Promise<void>;
}

/** Follows what an Anvil prints; to be called as soon as its guard was started. */
export function followOutput(guard: ChildProcess): AnvilOutput {
  let log = "";
  let panic: string | undefined;
  const checks = new Set<() => void>();
  // Where the system has refused to start the process, it has no streams.
  for (const stream of [guard.stdout, guard.stderr])
    stream?.setEncoding("utf8").on("data", (text: string) => {
      log = stripVTControlCharacters(log + text);
      panic ??= panicLine.exec(log)?.[1];
      log = log.slice(-logCharacters);
      for (const check of checks) check();
    });
  const printed = (pattern: RegExp) =>
    new Promise<RegExpExecArray>((resolve) => {
      const check = () => {
        const found = pattern.exec(log);
        if (found === null) return;
        checks.delete(check);
        resolve(found);
      };
      checks.add(check);
      check();
    });
  const exited = new Promise<AnvilExit>((resolve) => {
    guard.once("exit", (code) => resolve({ code: code ?? undefined, panic }));
  });
  const closed = new Promise<void>((resolve) => {
    guard.once("close", () => resolve());
  });
  return { log: () => log, printed, exited, closed };
}
