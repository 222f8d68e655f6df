import { Command } from "commander";
import { dataDirectoryOption, jsonOption, type SandboxFlags } from "../options.ts";
import { print } from "../print.ts";
import { callControl } from "../running/call-control.ts";

/** `routing-sandbox status`: what runs in a data directory. */
export function statusCommand(): Command {
  return new Command("status")
    .description("print whether a sandbox runs in a data directory, with its URLs")
    .addOption(dataDirectoryOption())
    .addOption(jsonOption("print JSON on one line"))
    .action(async ({ dataDir, json }: SandboxFlags) => {
      const status = await callControl(dataDir, "GET", "/status");
      print({ json }, status, JSON.stringify(status, null, 2));
    });
}
