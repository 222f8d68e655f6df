import { Command } from "commander";
import { findRunning } from "../data-directory/find-running.ts";

/** `routing-sandbox status`: what runs in a data directory. */
export function statusCommand(): Command {
  return new Command("status")
    .description("say what runs in a data directory")
    .option("--data-dir <folder>", "where the sandbox is kept", ".sandbox")
    .option("--json", "print JSON")
    .action(async ({ dataDir, json }: { dataDir: string; json?: boolean }) => {
      const running = await findRunning(dataDir);
      if (running === null) {
        process.stderr.write(`No sandbox runs in ${dataDir}; start one with npm start.\n`);
        process.exitCode = 1;
        return;
      }
      const status: unknown = await (await fetch(`${running.urls.control}/status`)).json();
      process.stdout.write(`${JSON.stringify(status, null, json ? 0 : 2)}\n`);
    });
}
