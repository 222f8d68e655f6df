import type { Command } from "commander";
import { howToRun } from "../../sandbox/lib/package-root.ts";
import { fetchControl } from "../running/call-control.ts";
import { dataDirectoryOption, freshOption, jsonOption, type SandboxFlags } from "../shared-options.ts";
import { newCommand, print, type Terminal } from "../terminal.ts";

interface LoadFlags extends SandboxFlags {
  fresh?: boolean;
}

/** `routing-sandbox snapshot save FILE`, `snapshot load FILE`: a whole sandbox in one file, for another machine or another day. */
export function snapshotCommand(terminal: Terminal): Command {
  return newCommand(terminal, "snapshot")
    .description("save a whole sandbox to one file, and continue from it elsewhere")
    .addCommand(saveCommand(terminal))
    .addCommand(loadCommand(terminal));
}

function saveCommand(terminal: Terminal): Command {
  return newCommand(terminal, "save")
    .description(
      "save the running sandbox to a snapshot file: chain, store, relayer's journal, clock, counters and faults",
    )
    .argument("<file>", "the file to write; an existing file is replaced")
    .addOption(dataDirectoryOption())
    .addOption(jsonOption())
    .action(async (file: string, { dataDir, json }: SandboxFlags) => {
      const { writeSnapshot } = await import("../../sandbox/snapshots/file/snapshot-file.ts");
      const answer = await fetchControl(dataDir, "GET", "/snapshot");
      const content = Buffer.from(await answer.arrayBuffer());
      await writeSnapshot(file, content);
      print(
        terminal,
        { json },
        { file, bytes: content.length },
        `Saved to ${file} (${Math.ceil(content.length / 1024)} KiB), which contains test keys. To continue from it in another data directory: ${howToRun("snapshot", "load", file, "--data-dir", "<folder>")}`,
      );
    });
}

function loadCommand(terminal: Terminal): Command {
  return newCommand(terminal, "load")
    .description(
      "create a data directory from a snapshot file, without its faults; run start to continue from it",
    )
    .argument("<file>", "the snapshot file")
    .addOption(dataDirectoryOption("the data directory; without --fresh, it must not contain a sandbox"))
    .addOption(freshOption("replace the sandbox in the data directory"))
    .addOption(jsonOption())
    .action(async (from: string, { dataDir, fresh = false, json }: LoadFlags) => {
      const { createSandbox } = await import("../../sandbox/create-sandbox.ts");
      // Started once, so that the directory holds what was saved or, if that cannot be loaded, nothing.
      await using sandbox = await createSandbox({ from, dataDirectory: dataDir, fresh });
      const fingerprint = await sandbox.fingerprint();
      print(
        terminal,
        { json },
        fingerprint,
        `Loaded into ${dataDir}: block ${fingerprint.block.number}, fingerprint ${fingerprint.digest}. To continue: ${howToRun("start", "--data-dir", dataDir)}`,
      );
    });
}
