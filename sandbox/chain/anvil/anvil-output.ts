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
}

/**
 * The events of an Anvil: the declarations of @viem/anvil need vitest's, which a user's project may have in another
 * version.
 */
interface AnvilEvents {
  on(event: "message", listener: (message: string) => void): unknown;
  on(event: "exit", listener: (code: number | undefined) => void): unknown;
}

/** Follows what an Anvil prints; to be called before it starts. */
export function followOutput(anvil: AnvilEvents): AnvilOutput {
  let log = "";
  let panic: string | undefined;
  const checks = new Set<() => void>();
  anvil.on("message", (message) => {
    panic ??= panicLine.exec(stripVTControlCharacters(log + message))?.[1];
    log = (log + message).slice(-logCharacters);
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
    anvil.on("exit", (code) => resolve({ code, panic }));
  });
  return { log: () => log, printed, exited };
}
