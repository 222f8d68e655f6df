import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import type { ClosingStack } from "../../lib/closing-stack.ts";
import type { SandboxSettings } from "../../options/options.ts";
import type { StartDeadline } from "../../options/start-deadline.ts";
import type { SandboxDescription } from "../description.ts";
import { lockDataDirectory } from "./lock.ts";
import { publish, unpublish } from "./sandbox-file.ts";
import { confirmSettings, keepSettings } from "./settings-file.ts";

/** The data directory of a start, in its order; a sandbox in memory has one that does nothing. */
export interface DataDirectory {
  /** Makes sure that the settings are those of the sandbox in it, or keeps those of a new one. @throws SandboxError data_directory_mismatch */
  keepSettings(): Promise<void>;
  /** Says that the start succeeded, writes `sandbox.json` and `.env`, and has them removed when the sandbox closes. */
  publish(description: SandboxDescription): Promise<void>;
  /** Writes `sandbox.json` and `.env` again. */
  republish(description: SandboxDescription): Promise<void>;
}

/**
 * Locks the data directory for this process. A directory that the start made is removed when the start fails.
 *
 * @throws SandboxError data_directory_in_use, start_timeout.
 */
export async function openDataDirectory(
  settings: SandboxSettings,
  opened: ClosingStack,
  deadline: StartDeadline,
): Promise<DataDirectory> {
  const { dataDirectory: directory } = settings;
  if (directory === undefined)
    return {
      async keepSettings() {},
      async publish() {
        deadline.signal.throwIfAborted();
      },
      async republish() {},
    };
  const isNew = !existsSync(directory);
  let isStarted = false;
  opened.defer(async () => {
    if (isNew && !isStarted) await rm(directory, { recursive: true, force: true });
  });
  const locking = lockDataDirectory(directory);
  opened.defer(await deadline.within("the lock of the data directory", locking, (unlock) => unlock()));
  return {
    async keepSettings() {
      await unpublish(directory);
      const { seed, mode, programs } = settings;
      const kept = { seed, mode, programs: [...programs], in_database: settings.store !== undefined };
      await keepSettings(directory, { version: 1, ...kept }, settings.fresh);
    },
    async publish(description) {
      await confirmSettings(directory);
      opened.defer(await publish(directory, description));
      deadline.signal.throwIfAborted();
      isStarted = true;
    },
    async republish(description) {
      await publish(directory, description);
    },
  };
}
