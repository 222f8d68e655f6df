import { mkdtemp, rm, rmdir, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makeDirectory } from "../../server/lib/make-directory.ts";
import { unwritable } from "../../server/store/directory/directory-store.ts";
import type { ChainRecord, SavedChain } from "../chain/start-chain.ts";
import { SandboxError } from "../lib/errors/sandbox-error.ts";
import { temporaryFault, temporaryRemedy } from "../lib/temporary-fault.ts";

/** A chain with its state, as a snapshot file has them. */
export interface SavedState extends Pick<SavedChain, "file" | "anvil" | "offset"> {
  chain: ChainRecord;
  /** As Anvil dumped it. */
  state: string | Uint8Array;
  /** Of the block after the latest one, in wei. */
  base_fee: bigint;
}

/**
 * Places the state of a saved chain where Anvil can load it; disposing takes the file away.
 *
 * @param directory - the data directory, in which a killed process's file is found again; the system's temporary one if there is none.
 */
export async function placeState(
  saved: SavedState,
  directory: string | undefined,
): Promise<SavedChain & AsyncDisposable> {
  const fault = directory === undefined ? await temporaryFault() : null;
  if (fault !== null) throw new SandboxError("snapshot_refused", `${fault} ${temporaryRemedy}.`);
  const folder =
    directory === undefined ? await mkdtemp(join(tmpdir(), "routing-sandbox-state-")) : loadingIn(directory);
  const stateFile = join(folder, "state.json");
  try {
    await makeDirectory(folder);
    // Only the Anvil of this start reads it; the next load writes it again.
    await writeFile(stateFile, saved.state, { mode: 0o600 });
  } catch (cause) {
    throw unwritable(stateFile, cause);
  }
  return {
    ...saved.chain,
    file: saved.file,
    anvil: saved.anvil,
    stateFile,
    baseFee: saved.base_fee,
    offset: saved.offset,
    // One that cannot be removed does not end a start that has succeeded; the next one removes it.
    [Symbol.asyncDispose]: async () => await removeState(folder).catch(() => undefined),
  };
}

/** Removes the state that a killed load left in a data directory. */
export async function removeLoading(directory: string): Promise<void> {
  await removeState(loadingIn(directory));
}

/** Removes a state and its folder, unless a user's own files are in that. */
async function removeState(folder: string): Promise<void> {
  await rm(join(folder, "state.json"), { force: true });
  await rmdir(folder).catch(() => undefined);
}

/** Returns the path in a data directory of the state that is being loaded. */
function loadingIn(directory: string): string {
  return join(directory, "loading");
}
