import type { Command } from "commander";
import { dataDirectoryOption, jsonOption, type SandboxFlags } from "../shared-options.ts";
import { newCommand, print, type Terminal } from "../terminal.ts";

/** The message for each outcome of a checkpoint. */
const checkpoints = {
  none: "There is no checkpoint.",
  used: "The blocks after the checkpoint are the same when they are mined from it.",
  unused: "The checkpoint is missing or damaged, so the next start mines all blocks again.",
} as const;

/** `routing-sandbox data verify`: whether a data directory is whole. */
export function dataCommand(terminal: Terminal): Command {
  return newCommand(terminal, "data")
    .description("check a data directory")
    .addCommand(verifyCommand(terminal));
}

function verifyCommand(terminal: Terminal): Command {
  return newCommand(terminal, "verify")
    .description(
      "check a data directory: mine its chain again and compare every block, without starting the API",
    )
    .addOption(dataDirectoryOption("the data directory; no sandbox may run in it"))
    .addOption(jsonOption())
    .action(async ({ dataDir, json }: SandboxFlags) => {
      const { verifyDirectory } = await import("../../sandbox/data-directory/verify-directory.ts");
      const verified = await verifyDirectory(dataDir);
      const { seed, mode, records, blocks, head, checkpoint } = verified;
      const newest = head === null ? "" : `, the newest ${head.number} (${head.hash})`;
      print(
        terminal,
        { json },
        verified,
        `${dataDir} is complete: seed "${seed}" in mode ${mode}, ${records} records, ${blocks} blocks mined again with equal hashes${newest}. ${checkpoints[checkpoint]}`,
      );
    });
}
