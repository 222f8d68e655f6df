import type { Command } from "commander";
import { howToRun } from "../../sandbox/lib/package-root.ts";
import { fetchControl } from "../running/call-control.ts";
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
      const { writeTrace } = await import("../../sandbox/trace/write-trace.ts");
      const written = await writeTrace(file, {
        encodeSnapshot: async () =>
          new Uint8Array(await (await fetchControl(dataDir, "GET", "/snapshot")).arrayBuffer()),
        makeTrace: async ({ snapshot }) => {
          const query = snapshot === null ? "" : `?${new URLSearchParams({ snapshot })}`;
          return await (await fetchControl(dataDir, "GET", `/trace${query}`)).text();
        },
      });
      const next = written.snapshot === null ? "" : `, and ${written.snapshot}, which contains test keys`;
      print(
        terminal,
        { json },
        written,
        `Wrote ${file}${next}. To open the trace: ${howToRun("open", file)}`,
      );
    });
}
