import { access, constants as files, stat } from "node:fs/promises";
import { constants } from "node:os";
import { delimiter, join, resolve } from "node:path";
import type { Sandbox } from "../../sandbox/create-sandbox.ts";
import { processesWith, signalProcess } from "../../sandbox/lib/processes/processes.ts";
import { wait } from "../../sandbox/lib/time/timers.ts";
import { GuardedCommand } from "./guarded-command.ts";

/** The number of characters of the output that are kept. */
const keptOutput = 4_000;

/** The variables by which a command finds a sandbox. */
export function environmentOf({ description: { urls } }: Pick<Sandbox, "description">, folder: string) {
  return {
    ROUTING_API_URL: urls.api,
    ROUTING_DOCS_URL: urls.docs,
    ROUTING_RPC_URL: urls.rpc,
    ROUTING_CONTROL_URL: urls.control,
    ROUTING_SANDBOX_FILE: resolve(folder, "sandbox.json"),
  };
}

/** How often it is looked for processes that are left, every 10 ms, before they are killed. */
const patientTries = 200;

/** A command that is run again and again, each time in a process group of its own, of which nothing is left afterwards. */
export class ClientCommand {
  /** The number of runs that have left processes. */
  left = 0;
  /** The end of the output of the last run. */
  output = "";
  readonly #words: readonly string[];

  constructor(words: readonly string[]) {
    this.#words = words;
  }

  /** Runs the command to its end. @throws Error when it fails, or when the signal has ended it. */
  async run(environment: ReturnType<typeof environmentOf>, signal: AbortSignal): Promise<void> {
    const { code, hasLeftProcesses } = await this.#runGroup(environment, signal);
    const hasLeftSession = await endProcessesWith("ROUTING_SANDBOX_FILE", environment.ROUTING_SANDBOX_FILE);
    if (hasLeftProcesses || hasLeftSession) this.left += 1;
    if (code !== 0) throw new Error(`it exited with ${code}${nameSignal(code)}`);
  }

  async #runGroup(environment: ReturnType<typeof environmentOf>, signal: AbortSignal) {
    await using command = new GuardedCommand(null);
    // A command that outlived its time would disturb the next run.
    const end = () => command.signal("SIGKILL");
    signal.addEventListener("abort", end);
    let output = "";
    try {
      const code = await command.run(this.#words, environment, (chunk) => {
        output = `${output}${chunk}`.slice(-keptOutput);
      });
      return { code, hasLeftProcesses: command.hasLeftProcesses };
    } finally {
      this.output = output;
      signal.removeEventListener("abort", end);
    }
  }
}

/** Returns the signal of an exit code, in parentheses; nothing if it is of none. */
function nameSignal(code: number): string {
  const [name] = Object.entries(constants.signals).find(([, number]) => code === 128 + number) ?? [];
  return name === undefined ? "" : ` (${name})`;
}

/** Ends the processes with a variable in their environment, as those in a session of their own. @returns whether there were any. */
async function endProcessesWith(name: string, value: string): Promise<boolean> {
  const told = new Set<number>();
  for (let tries = 0; ; tries += 1) {
    const left = await processesWith(name, value);
    if (left.length === 0) return told.size > 0;
    for (const { pid } of left) {
      if (tries >= patientTries) signalProcess(pid, "SIGKILL");
      else if (!told.has(pid)) signalProcess(pid, "SIGTERM");
      told.add(pid);
    }
    await wait(10);
  }
}

/** Why a program cannot be run, with the exit code that shells have for it: 127 for a missing program, 126 for one that cannot be executed. */
interface ProgramRefusal {
  readonly exitCode: 125 | 126 | 127;
  readonly message: string;
}

/**
 * Returns why a command cannot be run: its program as a shell looks it up, in the folders of PATH, unless its name has a slash. Null if it can be run.
 *
 * @example await refuseCommand(["pytst"]) // { exitCode: 127, message: "pytst is in no folder of PATH. …" }
 */
export async function refuseCommand([
  program = "",
  ...rest
]: readonly string[]): Promise<ProgramRefusal | null> {
  // Meant as the value of an option, it would run in place of the command.
  if (rest.length > 0 && ["true", "false"].includes(program))
    return {
      exitCode: 125,
      message: `error: "${program}" is before the command. An option such as --auto-deliver takes no value: leave out "${program}".`,
    };
  const isPath = program.includes("/");
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  const files = isPath ? [program] : folders.map((folder) => join(folder === "" ? "." : folder, program));
  const kinds = await Promise.all(files.map(kindOf));
  if (program !== "" && kinds.includes("program")) return null;
  const found = files[kinds.findIndex((kind) => kind !== "missing")];
  if (program !== "" && found !== undefined)
    return {
      exitCode: 126,
      message: `${found} cannot be executed: it is a folder, or you may not execute it. Name a program, or run chmod +x.`,
    };
  return {
    exitCode: 127,
    message: isPath
      ? `${program} does not exist. Name a program.`
      : `"${program}" is in no folder of PATH. Install it, or pass its path.`,
  };
}

async function kindOf(file: string): Promise<"program" | "other" | "missing"> {
  try {
    const isFile = (await stat(file)).isFile();
    await access(file, files.X_OK);
    return isFile ? "program" : "other";
  } catch (error) {
    return Reflect.get(Object(error), "code") === "EACCES" ? "other" : "missing";
  }
}
