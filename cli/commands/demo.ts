import type { Command } from "commander";
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
    .addOption(jsonOption("print one JSON object per line"))
    .action(async ({ dataDir, json }: SandboxFlags, command: Command) => {
      const { jsonPrinter, terminalPrinter } = await import("../../testkit/demo/printer.ts");
      const { runDemo } = await import("../../testkit/demo/run-demo.ts");
      const write = (line: string) => terminal.stdout.write(`${line}\n`);
      const say = json ? () => {} : write;
      const printer = json ? jsonPrinter(write) : terminalPrinter(write);
      const isNamed = command.getOptionValueSource("dataDir") === "cli";
      const running = await (isNamed ? requireRunning(dataDir) : findRunning(dataDir));
      if (running !== null) {
        say(`On the running sandbox at ${running.urls.api}.`);
        await runDemo(running, printer);
        return;
      }
      say(`No sandbox runs in ${dataDir}; starting a fresh one for the demo.`);
      const { createSandbox } = await import("../../sandbox/create-sandbox.ts");
      await using sandbox = await createSandbox({ seed: "demo" });
      await runDemo(sandbox.description, printer);
    });
}
