import { randomUUID } from "node:crypto";
import { lstat, rm, rmdir, stat, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { messageOf } from "../../protocol/coded-error.ts";
import { journalIn, readBeginning, requireStore } from "../../sandbox/data-directory/beginning.ts";
import { readOwner } from "../../sandbox/data-directory/lock.ts";
import { requireState } from "../../sandbox/data-directory/open-journal.ts";
import { requireFiles, requireOwnEnvironment } from "../../sandbox/data-directory/sandbox-file.ts";
import { isRunning } from "../../sandbox/lib/processes/processes.ts";
import type { SandboxDescription } from "../../sandbox/options/description.ts";
import { describeFileError } from "../../server/lib/describe-file-error.ts";
import { makeDirectory } from "../../server/lib/make-directory.ts";
import { readDirectory } from "../../server/store/directory/directory-store.ts";
import { broken, type Finding, healthy } from "./finding.ts";

/**
 * Checks that a data directory can be written to, is not held by another process, and holds a store that can be read.
 */
export async function examineDataDirectory(
  dataDirectory: string,
  running: SandboxDescription | null,
  inDatabase: boolean,
): Promise<Finding[]> {
  const folder = resolve(dataDirectory);
  const writing = await examineWriting(folder);
  // If it is not a directory, nothing else can be checked.
  if (!writing.ok && !(await mayBeDirectory(folder))) return [writing];
  return [
    writing,
    ...(await examineFiles(folder)),
    await examineOwner(folder, running),
    ...(running === null ? [await examineStore(folder, inDatabase)] : []),
  ];
}

async function examineWriting(folder: string): Promise<Finding> {
  const check = "data directory";
  const probe = join(folder, `.doctor-${randomUUID()}`);
  try {
    const made = await makeDirectory(folder);
    // Only whether a file can be written counts, so it is not written in one step and synced.
    await writeFile(probe, "");
    await rm(probe);
    // It is looked at, not begun.
    if (made !== undefined)
      for (let path = folder; path.startsWith(made); path = dirname(path)) await rmdir(path);
    return healthy(check, `${folder} can be written to.`);
  } catch (error) {
    const reason = describeFileError(error);
    return broken(
      check,
      `${folder} cannot be written to: ${reason}.`,
      "Make it a folder that you can write to, or choose another folder with --data-dir.",
    );
  }
}

/** Returns the findings that keep a start from writing its files next to the store. */
async function examineFiles(folder: string): Promise<Finding[]> {
  try {
    await requireFiles(folder);
    await requireOwnEnvironment(folder);
    return [];
  } catch (error) {
    return [
      broken(
        "data directory",
        describeFileError(error),
        "Follow the message. Nothing in the directory was changed.",
      ),
    ];
  }
}

async function mayBeDirectory(folder: string): Promise<boolean> {
  try {
    return (await stat(folder)).isDirectory();
  } catch (error) {
    // A start makes a missing directory, but cannot make one in the place of a link to nowhere. An unreadable path may be a directory.
    const code = Reflect.get(Object(error), "code");
    return code === "EACCES" || (code === "ENOENT" && (await lstat(folder).catch(() => null)) === null);
  }
}

async function examineOwner(folder: string, running: SandboxDescription | null): Promise<Finding> {
  const check = "lock";
  if (running !== null) return healthy(check, `The sandbox of process ${running.pid} runs in ${folder}.`);
  const owner = await readOwner(folder).catch(messageOf);
  if (typeof owner === "string")
    return broken(check, owner, "Follow the message. Nothing in the directory was changed.");
  if (owner === null) return healthy(check, "No process uses the data directory.");
  if (!isRunning(owner))
    return healthy(
      check,
      `Process ${owner.pid} had the lock and has ended. The next start takes the lock over.`,
    );
  return broken(
    check,
    `Process ${owner.pid} has the lock of ${folder} and does not respond.`,
    `If it is starting or stopping, wait. Otherwise end it: kill ${owner.pid}`,
  );
}

async function examineStore(folder: string, inDatabase: boolean): Promise<Finding> {
  const check = "store";
  try {
    const begun = await readBeginning(folder);
    if (begun === null) return healthy(check, "There is no store yet. The next start creates a new sandbox.");
    requireStore(folder, begun.settings, inDatabase);
    if (begun.state !== null) await requireState(folder, begun);
    const { collections, chain = [] } = await readDirectory(journalIn(folder));
    const records = Object.values(collections).reduce((sum, kept) => sum + Object.keys(kept).length, 0);
    const blocks = chain.filter(({ kind }) => kind === "block").length;
    const { seed, mode, epoch } = begun.settings;
    // The seed of a node's chain is a secret.
    const made =
      epoch === undefined ? `seed "${seed}" in mode ${mode}, ${blocks} blocks` : `chain epoch ${epoch}`;
    const held = `${made}, ${records} records`;
    return healthy(
      check,
      `${journalIn(folder)} is complete (${held}). The next start continues from it${inDatabase ? ", and from the database" : ""}.`,
    );
  } catch (error) {
    return broken(check, messageOf(error), "Follow the message. Nothing in the directory was changed.");
  }
}
