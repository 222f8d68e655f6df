import type { SandboxOptions } from "../sandbox/options/options.ts";
import type { CheckClientOptions, ClientReport } from "./check-client/check-client.ts";
import { createExplorableSandbox, type ExplorableSandbox } from "./explore/explorable-sandbox.ts";

/**
 * The options of {@link checkClient}.
 *
 * @example const check: ClientCheck = { run: async (sandbox) => await sell(sandbox.description.urls.api), only: "answer-lost" }
 */
export interface ClientCheck extends CheckClientOptions<ExplorableSandbox> {
  /** The options of the sandboxes that the client runs on. */
  options?: SandboxOptions;
}

/**
 * Runs your client once for each thing that can go wrong with its requests and events, from the same state each time, and compares what is on
 * the chain and in the records afterwards with a clean run.
 *
 * @throws SandboxError client_unusable when the client fails without a fault, sends no write, or does not do the same in every run;
 * argument_invalid for options, or when no case matches `only`; trace_refused when the folder of the traces cannot be written to.
 * @example
 * const { passed, cases } = await checkClient({ run: async (sandbox) => await sell(sandbox.description.urls.api) });
 * expect(cases.filter(({ verdict }) => verdict !== "safe")).toEqual([]);
 */
export async function checkClient({ options = {}, ...check }: ClientCheck): Promise<ClientReport> {
  const { checkClientOn } = await import("./check-client/check-client.ts");
  return await checkClientOn(async () => await createExplorableSandbox(options), check);
}
