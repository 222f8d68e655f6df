import { Command } from "commander";
import { callControl } from "../call-control.ts";

/** `routing-sandbox status`: what runs in a data directory. */
export function statusCommand(): Command {
  return new Command("status")
    .description("say what runs in a data directory")
    .option("--data-dir <folder>", "where the sandbox is kept", ".sandbox")
    .option("--json", "print it on one line")
    .action(async ({ dataDir, json }: { dataDir: string; json?: boolean }) => {
      const status = await callControl(dataDir, "GET", "/status");
      process.stdout.write(`${JSON.stringify(status, null, json ? 0 : 2)}\n`);
    });
}
