import { resolve } from "node:path";
import type { Sandbox } from "../../sandbox/create-sandbox.ts";
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
  async run(environment: Readonly<Record<string, string>>, signal: AbortSignal): Promise<void> {
    await using command = new GuardedCommand(null);
    // A command that outlived its time would disturb the next run.
    const end = () => command.signal("SIGKILL");
    signal.addEventListener("abort", end);
    let output = "";
    try {
      const code = await command.run(this.#words, environment, (chunk) => {
        output = `${output}${chunk}`.slice(-keptOutput);
      });
      if (command.hasLeftProcesses) this.left += 1;
      if (code !== 0) throw new Error(`it exited with ${code}`);
    } finally {
      this.output = output;
      signal.removeEventListener("abort", end);
    }
  }
}
