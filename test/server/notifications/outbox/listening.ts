import { createInterface } from "node:readline";
import type { HeardDelivery } from "../../../../cli/open-receiver.ts";
import { startCli } from "../../../cli/run-cli.ts";

/** `routing-sandbox listen --json`. */
export interface Listening extends AsyncDisposable {
  url: string;
  /** The next delivery that it printed. */
  next(): Promise<HeardDelivery>;
}

/** Starts a listener on a free port. */
export async function startListening(...options: string[]): Promise<Listening> {
  const { stdout, exited, kill } = startCli(["listen", "--json", "--port", "0", ...options]);
  const lines = createInterface({ input: stdout })[Symbol.asyncIterator]();
  const next = async () => JSON.parse(String((await lines.next()).value));
  const { listening } = await next();
  return {
    url: listening,
    next,
    async [Symbol.asyncDispose]() {
      kill("SIGINT");
      await exited;
    },
  };
}
