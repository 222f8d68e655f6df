import { Command } from "commander";
import { print } from "../print.ts";
import { dataDirectoryOption, jsonOption, type SandboxFlags } from "../shared-options.ts";

/** The message for each outcome of a checkpoint. */
const checkpoints = {
  none: "There is no checkpoint.",
  used: "The blocks after the checkpoint are the same when they are mined from it.",
  unused: "The checkpoint is missing or damaged, so the next start mines all blocks again.",
} as const;

/** `routing-sandbox data verify`: whether a data directory is whole. */
export function dataCommand(): Command {
  return new Command("data").description("check a data directory").addCommand(verifyCommand());
}

function verifyCommand(): Command {
  return new Command("verify")
    .description(
      "check a data directory: mine its chain again and compare every block, without starting the API",
    )
    .addOption(dataDirectoryOption("the data directory; no sandbox may run in it"))
    .addOption(jsonOption())
    .action(async ({ dataDir, json }: SandboxFlags) => {
      const { verifyDirectory } = await import("../../sandbox/state/data-directory/verify-directory.ts");
      const verified = await verifyDirectory(dataDir);
      const { seed, mode, records, blocks, head, checkpoint } = verified;
      const newest = head === null ? "" : `, the newest ${head.number} (${head.hash})`;
      print(
        { json },
        verified,
        `${dataDir} is complete: seed "${seed}" in mode ${mode}, ${records} records, ${blocks} blocks mined again with equal hashes${newest}. ${checkpoints[checkpoint]}`,
      );
    });
}
