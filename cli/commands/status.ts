import { Command } from "commander";
import { callControl } from "../call-control.ts";
import { dataDirectoryOption, jsonOption, type SandboxFlags } from "../options.ts";

/** `routing-sandbox status`: what runs in a data directory. */
export function statusCommand(): Command {
  return new Command("status")
    .description("print whether a sandbox runs in a data directory, with its URLs")
    .addOption(dataDirectoryOption())
    .addOption(jsonOption("print JSON on one line"))
    .action(async ({ dataDir, json }: SandboxFlags) => {
      const status = await callControl(dataDir, "GET", "/status");
      process.stdout.write(`${JSON.stringify(status, null, json ? 0 : 2)}\n`);
    });
}
