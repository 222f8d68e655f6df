import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { HeardDelivery } from "../../../cli/open-receiver.ts";
import { cli } from "../../cli/program.ts";

/** `routing-sandbox listen --json` in a process of its own. */
export interface Listening extends AsyncDisposable {
  url: string;
  /** The next delivery that it printed. */
  next(): Promise<HeardDelivery>;
}

/** Starts a listener on a free port. */
export async function startListening(...options: string[]): Promise<Listening> {
  const child = spawn(process.execPath, [cli, "listen", "--json", "--port", "0", ...options], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async () => JSON.parse(String((await lines.next()).value));
  const { listening } = await next();
  return {
    url: listening,
    next,
    async [Symbol.asyncDispose]() {
      const ended = once(child, "exit");
      child.kill("SIGINT");
      await ended;
    },
  };
}
