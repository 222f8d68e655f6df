import type { Command } from "commander";
import { causesOf } from "../../protocol/coded-error.ts";
import type { SandboxDescription } from "../../sandbox/options/description.ts";
import type { Printer } from "../../testkit/demo/printer.ts";
import { type NetworkFlags, rpcUrlOption } from "../network-options.ts";
import { requireRunning } from "../running/call-control.ts";
import { findRunning } from "../running/find-running.ts";
import { dataDirectoryOption, jsonOption, type SandboxFlags } from "../shared-options.ts";
import { newCommand, type Terminal } from "../terminal.ts";

/** `routing-sandbox demo`: runs the whole lifecycle step by step. */
export function demoCommand(terminal: Terminal): Command {
  return newCommand(terminal, "demo")
    .description(
      "run example purchases, one of them from enrollment to refund, on the running sandbox or on a temporary one",
    )
    .addOption(
      dataDirectoryOption(
        "the data directory of a running sandbox; if you pass this option, a sandbox must run there",
      ),
    )
    .addOption(rpcUrlOption())
    .addOption(jsonOption("print one JSON object per line"))
    .action(async ({ dataDir, json, rpcUrl }: SandboxFlags & NetworkFlags, command: Command) => {
      const { jsonPrinter, terminalPrinter } = await import("../../testkit/demo/printer.ts");
      const { runDemo } = await import("../../testkit/demo/run-demo.ts");
      const write = (line: string) => terminal.stdout.write(`${line}\n`);
      const say = json ? () => {} : write;
      const printer = json ? jsonPrinter(write) : terminalPrinter(write);
      const isNamed = command.getOptionValueSource("dataDir") === "cli";
      const running = await (isNamed ? requireRunning(dataDir) : findRunning(dataDir));
      if (running !== null) {
        say(`On the running sandbox at ${running.urls.api}.`);
        await runOn(running, rpcUrl, printer).catch((error: unknown) => {
          throw silenceOf(rpcUrl === undefined ? running.urls.rpc : null, error) ?? error;
        });
        return;
      }
      say(`No sandbox runs in ${dataDir}; starting a fresh one for the demo.`);
      const { createSandbox } = await import("../../sandbox/create-sandbox.ts");
      await using sandbox = await createSandbox({ seed: "demo" });
      await runDemo(sandbox.description, printer);
    });
}

async function runOn(
  running: SandboxDescription,
  rpcUrls: readonly string[] | undefined,
  printer: Printer,
): Promise<void> {
  const { runDemo } = await import("../../testkit/demo/run-demo.ts");
  if (rpcUrls === undefined) return await runDemo(running, printer);
  const { openNode } = await import("../../testkit/demo/open-node.ts");
  await using node = await openNode(rpcUrls, running);
  return await runDemo(running, printer, node);
}

const silences: readonly string[] = ["HttpRequestError", "TimeoutError", "NodeSilentError"];

/** Returns what to do when the chain does not respond to wallets; null for any other error. @param url - the one that the sandbox publishes, null for another one. */
function silenceOf(url: string | null, error: unknown): Error | null {
  if (!causesOf(error).some(({ name }) => silences.includes(name))) return null;
  const message =
    url === null
      ? "There is no response from the node of --rpc-url. Check that it runs, and run the demo again."
      : `There is no response from ${url}, which the wallets of the demo use. If the service is connected to a node, name that one with --rpc-url; otherwise see routing-sandbox status.`;
  // Not a CodedError: only the command line shows it.
  return new Error(message, { cause: error });
}
