import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import type { SandboxDescription } from "../../sandbox/description.ts";
import type { PostgresServer } from "../../scripts/postgres-server.ts";
import { cli } from "../cli.ts";

/** A process that answers the API of a sandbox which another one runs. */
export interface JoinedProcess {
  /** The first process's, with this one's own API. */
  description: SandboxDescription;
  output: () => string;
  end: (signal: NodeJS.Signals) => Promise<void>;
}

/** Starts `routing-sandbox join`. */
export async function joinAs(owner: SandboxDescription, ...options: string[]): Promise<JoinedProcess> {
  const child: ChildProcess = spawn(process.execPath, [cli, "join", "--json", ...options], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const exited = once(child, "exit");
  let output = "";
  const printed = Promise.withResolvers<string>();
  for (const stream of [child.stdout, child.stderr])
    stream?.on("data", (chunk) => {
      output += chunk;
      const line = /^\{.*\}$/m.exec(output)?.[0];
      if (line !== undefined) printed.resolve(line);
    });
  const failed = exited.then(() => {
    throw new Error(`The process that joined has ended:\n${output}`);
  });
  failed.catch(() => undefined);
  const { urls } = JSON.parse(await Promise.race([printed.promise, failed]));
  return {
    description: { ...owner, urls: { ...owner.urls, api: urls.api } },
    output: () => output,
    end: async (signal) => {
      child.kill(signal);
      await exited;
    },
  };
}

/** Where the process answers that leads the sandbox of a schema. */
export async function leaderOf(server: PostgresServer, schema: string): Promise<unknown> {
  return (await server.ask(`SELECT value FROM ${schema}.about WHERE name = 'leader'`))[0]?.["value"];
}

/** Ends the connection that the leader leads by, until the wanted process leads. */
export async function haveLead(
  server: PostgresServer,
  schema: string,
  { urls }: Pick<SandboxDescription, "urls">,
): Promise<void> {
  while ((await leaderOf(server, schema)) !== urls.api)
    await server.ask(
      "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND objid = 2 AND granted",
    );
}
