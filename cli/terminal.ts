import { Command } from "commander";
import { forTerminal } from "../server/lib/escape-controls.ts";

/** The parts of its process that a command uses: `process`, or an object of the caller that runs a command in its own process. */
export interface Terminal {
  readonly stdin: NodeJS.ReadableStream;
  readonly stdout: Output;
  readonly stderr: Output;
  /** The exit code of the command, 0 if it is not set. */
  exitCode?: NodeJS.Process["exitCode"];
  once(signal: NodeJS.Signals, listener: () => void): unknown;
}

interface Output {
  readonly isTTY?: boolean;
  write(text: string): boolean;
}

/** Returns a terminal that shows text of others, such as the path of a request, instead of executing it. */
export function escaping(terminal: Terminal): Terminal {
  const { stdin, stdout, stderr } = terminal;
  return {
    stdin,
    stdout: escapingOutput(stdout),
    stderr: escapingOutput(stderr),
    get exitCode() {
      return terminal.exitCode;
    },
    set exitCode(code) {
      terminal.exitCode = code;
    },
    once: (signal, listener) => terminal.once(signal, listener),
  };
}

function escapingOutput(output: Output): Output {
  return { isTTY: output.isTTY ?? false, write: (text) => output.write(forTerminal(text)) };
}

/** Returns a command that prints its help and its errors to the terminal, and throws a CommanderError where commander ends the process. */
export function newCommand({ stdout, stderr }: Terminal, name: string): Command {
  return new Command(name)
    .exitOverride()
    .configureOutput({ writeOut: (text) => stdout.write(text), writeErr: (text) => stderr.write(text) });
}

/** Prints the answer of a command: as one line of JSON with --json, otherwise as text. */
export function print(
  { stdout }: Terminal,
  flags: { readonly json?: boolean | undefined },
  answer: unknown,
  text: string,
): void {
  stdout.write(`${flags.json ? JSON.stringify(answer) : text}\n`);
}

/** Resolves at the first Ctrl-C (`interrupt`), or SIGTERM or SIGHUP (`termination`): a terminal that is closed sends SIGHUP. */
export async function interruption(terminal: Terminal): Promise<"interrupt" | "termination"> {
  const { promise, resolve } = Promise.withResolvers<"interrupt" | "termination">();
  terminal.once("SIGINT", () => resolve("interrupt"));
  for (const signal of ["SIGTERM", "SIGHUP"] as const) terminal.once(signal, () => resolve("termination"));
  return await promise;
}
