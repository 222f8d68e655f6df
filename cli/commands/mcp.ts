import type { Command } from "commander";
import { dataDirectoryOption, type SandboxFlags } from "../shared-options.ts";
import { newCommand, type Terminal } from "../terminal.ts";

/** `routing-sandbox mcp`: the running sandbox as tools of an agent. */
export function mcpCommand(terminal: Terminal): Command {
  return newCommand(terminal, "mcp")
    .description(
      "serve the running sandbox as tools of an agent: the Model Context Protocol (MCP) over standard input and output",
    )
    .addOption(dataDirectoryOption())
    .action(async ({ dataDir }: SandboxFlags, { parent }: Command) => {
      const { serveTools } = await import("../mcp/serve-tools.ts");
      await serveTools(terminal, dataDir, parent?.version() ?? "");
    });
}
