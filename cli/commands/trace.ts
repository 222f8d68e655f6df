import type { Command } from "commander";
import { howToRun } from "../../sandbox/lib/package-root.ts";
import { traceRunning } from "../running/trace-running.ts";
import { dataDirectoryOption, jsonOption, type SandboxFlags } from "../shared-options.ts";
import { newCommand, print, type Terminal } from "../terminal.ts";

/** `routing-sandbox trace <file>`: what has happened in the running sandbox, in one HTML file, and a snapshot file next to it. */
export function traceCommand(terminal: Terminal): Command {
  return newCommand(terminal, "trace")
    .description(
      "write everything that has happened in the running sandbox since its last restore to one HTML file that opens offline, with a snapshot file next to it",
    )
    .argument("<file>", "the file to write, such as checkout.trace.html; an existing file is replaced")
    .addOption(dataDirectoryOption())
    .addOption(jsonOption())
    .action(async (file: string, { dataDir, json }: SandboxFlags) => {
      const written = await traceRunning(dataDir, file);
      const next =
        written.snapshot === null
          ? `, without a snapshot file: ${written.snapshot_problem?.replace(/\.$/, "")}`
          : `, and ${written.snapshot}, which contains test keys`;
      print(
        terminal,
        { json },
        written,
        `Wrote ${file}${next}. To open the trace: ${howToRun("open", file)}`,
      );
    });
}
