import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SavedChain } from "../../chain/genesis/start-chain.ts";
import { SandboxError } from "../../lib/sandbox-error.ts";
import type { Fingerprint } from "../fingerprint.ts";
import type { SavedSandbox } from "./saved-sandbox.ts";

/** Places the state of a saved chain where Anvil can load it; disposing takes the file away. */
export async function placeState(saved: SavedSandbox): Promise<SavedChain & AsyncDisposable> {
  const folder = await mkdtemp(join(tmpdir(), "routing-sandbox-state-"));
  const stateFile = join(folder, "state.json");
  await writeFile(stateFile, saved.state, { mode: 0o600 });
  return {
    ...saved.chain,
    stateFile,
    baseFee: saved.base_fee,
    offset: saved.offset,
    [Symbol.asyncDispose]: async () => await rm(folder, { recursive: true, force: true }),
  };
}

/**
 * Makes sure that a loaded sandbox is the saved one.
 *
 * @throws SandboxError snapshot_refused
 */
export function requireEqual({ fingerprint }: SavedSandbox, loaded: Fingerprint): void {
  if (fingerprint.digest === loaded.digest) return;
  throw new SandboxError(
    "snapshot_refused",
    `What was loaded is not what was saved: block ${loaded.block.number} is ${loaded.block.hash} and was ${fingerprint.block.hash}. Save it again.`,
  );
}
