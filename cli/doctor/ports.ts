import { once } from "node:events";
import { createServer } from "node:net";
import { codeOf } from "../../protocol/coded-error.ts";
import { findListener } from "../../sandbox/lib/processes/processes.ts";
import type { SandboxDescription } from "../../sandbox/options/description.ts";
import { broken, type Finding, healthy } from "./finding.ts";

/** Checks that each port is given to one option only, and is free or the running sandbox's own. */
export async function examinePorts(
  ports: { readonly [option: string]: number },
  running: SandboxDescription | null,
): Promise<Finding[]> {
  const options = Object.keys(ports);
  const examined = options.map(async (option) => {
    const port = ports[option] ?? 0;
    const [first, second] = options.filter((other) => ports[other] === port);
    if (port === 0 || first === undefined || second === undefined)
      return await examinePort(option, port, running);
    return broken(
      `port ${port} (${option})`,
      `${first} and ${second} have the same port ${port}.`,
      "Choose another port for one of them, or 0 for any free port.",
    );
  });
  return await Promise.all(examined);
}

/** Checks that a port is free, or the running sandbox's own. */
async function examinePort(
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
    return codeOf(error) ?? String(error);
  } finally {
    server.close();
  }
}
