import { once } from "node:events";
import { createServer } from "node:net";
import { findListener } from "../../sandbox/lib/processes/processes.ts";
import type { SandboxDescription } from "../../sandbox/state/description.ts";
import { broken, type Finding, healthy } from "./finding.ts";

/** Checks that a port is free, or the running sandbox's own. */
export async function examinePort(
  option: string,
  port: number,
  running: SandboxDescription | null,
): Promise<Finding> {
  const check = `port ${port} (${option})`;
  const own = Object.values(running?.urls ?? {}).some((url) => new URL(url).port === String(port));
  if (own) return healthy(check, `The running sandbox (process ${running?.pid}) listens there.`);
  const refusal = await tryPort(port);
  if (refusal === null) return healthy(check, "It is free.");
  if (refusal !== "EADDRINUSE")
    return broken(
      check,
      `It may not be used (${refusal}).`,
      `Choose another port with ${option}, or 0 for any free port.`,
    );
  const owner = await findListener(port);
  const who =
    owner === undefined
      ? "Another user's process"
      : `Process ${owner.pid} (${owner.command.trim().slice(0, 120)})`;
  return broken(
    check,
    `${who} listens there.`,
    `End that process, or choose another port with ${option}, or 0 for any free port.`,
  );
}

async function tryPort(port: number): Promise<string | null> {
  const server = createServer();
  try {
    server.listen(port, "127.0.0.1");
    await once(server, "listening");
    return null;
  } catch (error) {
    return error instanceof Error && "code" in error ? String(error.code) : String(error);
  } finally {
    server.close();
  }
}
