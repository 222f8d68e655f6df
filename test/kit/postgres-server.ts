import { type ChildProcess, execFile, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chown, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { Client } from "pg";
import { findPostgres } from "../../scripts/test-programs.ts";

const run = promisify(execFile);

/** The server's programs, and the user to run them as: the server refuses root. */
const programs = findPostgres(process.env);
const user: { uid?: number; gid?: number } | null = process.getuid?.() === 0 ? unprivilegedUser() : {};

/** Whether a server can be started here. */
export const hasPostgres = programs !== undefined && user !== null;

/** The title of the tests that need a server. */
export const inPostgres = hasPostgres
  ? "in PostgreSQL"
  : "in PostgreSQL (skipped: its server is not installed; apt-get install postgresql)";

/** A PostgreSQL server of the tests' own, on a Unix socket in a temporary folder. */
export interface PostgresServer {
  /** The URL of a schema, with a password that must not be seen anywhere. */
  url(schema: string): string;
  /** Runs statements as its administrator. */
  ask(text: string): Promise<{ [column: string]: unknown }[]>;
  /** Ends it at once, as a crash does. */
  stop(): Promise<void>;
  start(): Promise<void>;
  close(): Promise<void>;
}

/** The password in the URLs; the socket asks for none. */
export const password = "hunter2-must-stay-secret";

/** Starts a server in a temporary folder. It does not sync what it commits: the data are gone when it is closed. */
export async function startPostgres(): Promise<PostgresServer> {
  if (programs === undefined || user === null) throw new Error("PostgreSQL is not installed.");
  const folder = await mkdtemp(join(tmpdir(), "routing-sandbox-postgres-"));
  if (user.uid !== undefined && user.gid !== undefined) await chown(folder, user.uid, user.gid);
  const data = join(folder, "data");
  const options = { ...user, cwd: folder, env: { PATH: process.env["PATH"], LC_ALL: "C" } };
  await run(
    join(programs, "initdb"),
    ["-D", data, "-U", "sandbox", "-A", "trust", "-E", "UTF8", "--no-sync", "--no-instructions"],
    options,
  );
  let server: ChildProcess | null = null;
  const settings = { listen_addresses: "", unix_socket_directories: folder, fsync: "off" };
  const start = async () => {
    const flags = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
    server = spawn(join(programs, "postgres"), ["-D", data, ...flags], {
      ...options,
      stdio: ["ignore", "ignore", "pipe"],
    });
    await awaitReady(server);
  };
  const stop = async () => {
    if (server === null || server.exitCode !== null) return;
    const exited = once(server, "exit");
    server.kill("SIGQUIT");
    await exited;
    server = null;
  };
  await start();
  return {
    url: (schema) =>
      `postgres://sandbox:${password}@localhost/postgres?host=${encodeURIComponent(folder)}&schema=${encodeURIComponent(schema)}`,
    async ask(text) {
      const client = new Client({ host: folder, user: "sandbox", database: "postgres" });
      await client.connect();
      try {
        return (await client.query(text)).rows;
      } finally {
        await client.end();
      }
    },
    stop,
    start,
    async close() {
      await stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Resolves when a server says that it accepts connections. */
async function awaitReady(server: ChildProcess): Promise<void> {
  let output = "";
  const exited = once(server, "exit");
  const ready = new Promise<void>((resolve) => {
    server.stderr?.on("data", (chunk) => {
      output += chunk;
      if (output.includes("ready to accept connections")) resolve();
    });
  });
  const failed = exited.then(() => {
    throw new Error(`PostgreSQL ended:\n${output}`);
  });
  await Promise.race([ready, failed]);
  failed.catch(() => undefined);
}

function unprivilegedUser(): { uid: number; gid: number } | null {
  for (const name of ["postgres", "nobody"])
    try {
      const id = (flag: string) =>
        Number(execFileSync("id", [flag, name], { encoding: "utf8", stdio: "pipe" }));
      return { uid: id("-u"), gid: id("-g") };
    } catch {
      // There is no such user.
    }
  return null;
}
