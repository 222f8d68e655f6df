import { createHash, webcrypto } from "node:crypto";
import { createReadStream, existsSync } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { replaceFile } from "../../server/lib/replace-file.ts";
import type { ChainChange } from "../../server/store/chain-changes.ts";
import type { KeptCheckpoint } from "../chain/start-chain.ts";

/** The names of the files of checkpoints; the state that the chain came from is `chain.json`. */
const checkpointName = /^chain\.[0-9a-f]{16}\.json/;

/**
 * Finds the newest checkpoint whose file is whole.
 *
 * @param journal - the directory of the journal.
 * @param changes - what the journal holds of the chain.
 */
export async function findCheckpoint(
  journal: string,
  changes: readonly ChainChange[],
): Promise<KeptCheckpoint | null> {
  for (const [index, change] of [...changes.entries()].toReversed()) {
    if (change.kind !== "checkpoint") continue;
    const stateFile = fileOf(journal, change.state);
    // An unreadable file counts as a damaged one: the journal has all of its content.
    if (existsSync(stateFile) && (await digestOf(stateFile)) === change.state)
      return { stateFile, position: index + 1 };
  }
  return null;
}

/**
 * Writes the state of a checkpoint, durably.
 *
 * @returns its SHA-256, in hex.
 */
export async function writeState(journal: string, state: Uint8Array<ArrayBuffer>): Promise<string> {
  const digest = Buffer.from(await webcrypto.subtle.digest("SHA-256", state)).toString("hex");
  await replaceFile(fileOf(journal, digest), state);
  return digest;
}

/** Removes the files of all checkpoints but one, and what was left of one that was not finished. */
export async function removeOthers(journal: string, digest: string): Promise<void> {
  const kept = fileOf(journal, digest);
  for (const name of await readdir(journal))
    if (checkpointName.test(name) && join(journal, name) !== kept)
      await rm(join(journal, name), { force: true });
}

function fileOf(journal: string, digest: string): string {
  return join(journal, `chain.${digest.slice(0, 16)}.json`);
}

/** Returns the SHA-256 of a file, in hex; null when it cannot be read. */
export async function digestOf(file: string): Promise<string | null> {
  const hash = createHash("sha256");
  try {
    await pipeline(createReadStream(file, { highWaterMark: 2 ** 20 }), hash);
  } catch {
    return null;
  }
  return hash.digest("hex");
}
