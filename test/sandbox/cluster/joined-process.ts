import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import type { SandboxDescription } from "../../../sandbox/options/description.ts";
import type { SandboxOptions } from "../../../sandbox/options/options.ts";
import { cli } from "../../cli/program.ts";
import type { PostgresServer } from "../../kit/postgres-server.ts";
import { programFile } from "../../program-file.ts";

/** A process that answers the API of a sandbox. */
export interface RunningProcess {
  /** The sandbox's, with this process's own API. */
  description: SandboxDescription;
  output: () => string;
  end: (signal: NodeJS.Signals) => Promise<void>;
}

/** Starts `routing-sandbox join`. */
export async function joinAs(owner: SandboxDescription, ...options: string[]): Promise<RunningProcess> {
  const { printed, ...joined } = await startProcess(cli, "join", "--json", ...options);
  const { urls } = JSON.parse(printed);
  return { ...joined, description: { ...owner, urls: { ...owner.urls, api: urls.api } } };
}

/** Starts a sandbox with any options in a process of its own. */
export async function runSandbox(options: SandboxOptions): Promise<RunningProcess> {
  const { printed, ...started } = await startProcess(programFile("run-sandbox"), JSON.stringify(options));
  return { ...started, description: JSON.parse(printed) };
}

/** Starts a program and waits for the line of JSON that it prints when it is ready. */
async function startProcess(...args: string[]) {
  const child: ChildProcess = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"] });
  const exited = once(child, "exit");
  let output = "";
  const ready = Promise.withResolvers<string>();
  for (const stream of [child.stdout, child.stderr])
    stream?.on("data", (chunk) => {
      output += chunk;
      const line = /^\{.*\}$/m.exec(output)?.[0];
      if (line !== undefined) ready.resolve(line);
    });
  const failed = exited.then(() => {
    throw new Error(`The process has ended:\n${output}`);
  });
  failed.catch(() => undefined);
  return {
    printed: await Promise.race([ready.promise, failed]),
    output: () => output,
    end: async (signal: NodeJS.Signals) => {
      child.kill(signal);
      await exited;
    },
  };
}

/** Returns the URL of the process that leads the sandbox of a schema. */
export async function leaderOf(server: PostgresServer, schema: string): Promise<unknown> {
  return (await server.ask(`SELECT value FROM ${schema}.about WHERE name = 'leader'`))[0]?.["value"];
}

/** Ends the connection that the leader leads by, until the wanted process leads. */
export async function haveLead(
  server: PostgresServer,
  schema: string,
  { urls }: Pick<SandboxDescription, "urls">,
): Promise<void> {
  while ((await leaderOf(server, schema)) !== urls.api) {
    // Until the next leader has written its name: it would lose the lead again if its connection were ended before.
    await server.ask(`DELETE FROM ${schema}.about WHERE name = 'leader'`);
    await server.ask(
      "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND objid = 2 AND granted",
    );
    while ((await leaderOf(server, schema)) === undefined);
  }
}
