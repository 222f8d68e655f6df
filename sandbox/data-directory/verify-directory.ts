import type { BlockChange } from "../../server/store/chain-changes.ts";
import { StoreDamagedError } from "../../server/store/directory/checked-lines.ts";
import { readDirectory } from "../../server/store/directory/directory-store.ts";
import { readable } from "../../server/store/directory/store-files.ts";
import { makeAgain } from "../chain/start-chain.ts";
import { SandboxError } from "../lib/errors/sandbox-error.ts";
import { type Beginning, journalIn, readBeginning } from "./beginning.ts";
import { findCheckpoint } from "./checkpoint-files.ts";
import { lockForReading } from "./lock.ts";
import { requireState } from "./open-journal.ts";

/** The verified contents of a data directory. */
export interface VerifiedDirectory {
  seed: string;
  mode: string;
  /** The number of records of the store, all of which match their checksums. */
  records: number;
  /** The number of blocks that were made again, each with the hash that the journal has. */
  blocks: number;
  /** The newest block; null when the chain is as it began. */
  head: { number: number; hash: string } | null;
  /** `used`: it leads to the same blocks; `unused`: it is missing or damaged, and the next start makes all blocks again. */
  checkpoint: "none" | "used" | "unused";
}

/**
 * Reads all of a data directory, makes every block of its chain again without serving anything, and compares the hash of each. The
 * directory is locked meanwhile, unless it is read-only, and nothing else in it is changed.
 *
 * @throws SandboxError data_directory_in_use, data_directory_mismatch; StoreDamagedError, AnvilError.
 */
export async function verifyDirectory(directory: string): Promise<VerifiedDirectory> {
  const begun = await readBeginning(directory);
  if (begun === null)
    throw new SandboxError(
      "data_directory_mismatch",
      `${directory} contains no sandbox. Name the data directory of a sandbox with the option dataDirectory.`,
    );
  const unlock = await lockForReading(directory);
  try {
    const stateFile = await requireState(directory, begun);
    const journal = journalIn(directory);
    const { collections, chain: changes = [] } = await readDirectory(journal);
    const make = async (checkpoint: Awaited<ReturnType<typeof findCheckpoint>>) => {
      await using anvil = await makeAgain({ stateFile, changes, checkpoint, made() {} }, undefined);
      return anvil.loadedBlock;
    };
    const first = await make(null);
    const checkpoint = await findCheckpoint(readable(journal), changes);
    // From one that does not lead to the same blocks, all of them are made.
    const isUsed = checkpoint !== null && (await make(checkpoint)) > first;
    const blocks = changes.filter((change) => change.kind === "block");
    requireEpochBlock(journal, begun, blocks);
    const { number, hash } = blocks.at(-1) ?? {};
    const named = changes.some(({ kind }) => kind === "checkpoint");
    return {
      seed: begun.settings.seed,
      mode: begun.settings.mode,
      records: Object.values(collections).reduce((sum, kept) => sum + Object.keys(kept).length, 0),
      blocks: blocks.length,
      head: number === undefined || hash === undefined ? null : { number, hash },
      checkpoint: isUsed ? "used" : named ? "unused" : "none",
    };
  } finally {
    await unlock();
  }
}

/** @throws StoreDamagedError when the block is not there that the chain's epoch is made of: no start would take the chain for the same one. */
function requireEpochBlock(journal: string, { chain }: Beginning, blocks: readonly BlockChange[]): void {
  if (chain === null) return;
  const { number, hash } = chain.deployment.epochBlock;
  const found = blocks.find((block) => block.number === number);
  if (found === undefined || found.hash === hash) return;
  throw new StoreDamagedError(
    `The journal in ${journal} has another block ${number} (${found.hash}) than the chain began with (${hash}). Restore the data directory from a backup, or choose another one with the option dataDirectory.`,
  );
}
