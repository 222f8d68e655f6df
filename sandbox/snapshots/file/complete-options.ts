import { readRegistrar } from "../../chain/registrar/registrar.ts";
import { describeRegistrar, differingSettings, readKeptSettings } from "../../data-directory/beginning.ts";
import { definedOnly } from "../../lib/defined-only.ts";
import { SandboxError } from "../../lib/errors/sandbox-error.ts";
import type { SandboxOptions } from "../../options/options.ts";
import { resolvePrograms } from "../../options/programs.ts";
import type { SandboxSettings } from "../../options/settings.ts";
import type { LoadedSnapshot } from "./snapshot-content.ts";
import { readSnapshot } from "./snapshot-file.ts";

/** Options with what was kept or saved earlier, and what was saved. */
export interface CompletedOptions {
  options: SandboxOptions;
  saved: LoadedSnapshot | null;
  /** The registrar contract that the options name, or else the one that was kept or saved; null for the sandbox's own one. */
  registrar: SandboxSettings["contracts"]["registrar"];
}

/**
 * Completes options that leave open what a snapshot file or a data directory was made with.
 *
 * @throws SandboxError option_invalid when a file and a database are named; snapshot_refused when the options name another seed, mode or
 * programs or another registrar contract than the file, when the directory has a sandbox already, and for a file that cannot be loaded; registrar_unusable.
 */
export async function completeOptions(given: SandboxOptions): Promise<CompletedOptions> {
  const options: SandboxOptions = definedOnly(given);
  const { from, dataDirectory, fresh = false, contracts } = options;
  const asking = contracts?.registrar;
  const named = asking === undefined ? null : await readRegistrar(asking);
  const kept = dataDirectory === undefined || fresh ? null : await readKeptSettings(dataDirectory);
  if (from === undefined) {
    const { version: _, registrar = null, ...known } = kept ?? { version: 1 };
    return { options: { ...known, ...options }, saved: null, registrar: named ?? registrar };
  }
  if (options.store !== undefined)
    throw new SandboxError(
      "option_invalid",
      "A snapshot file cannot be loaded into a database. Leave out the option store or the option from.",
    );
  if (kept !== null)
    throw new SandboxError(
      "snapshot_refused",
      `${dataDirectory} already contains a sandbox. Choose another data directory with the option dataDirectory, or delete this sandbox with the option fresh.`,
    );
  const saved = await readSnapshot(from);
  const { seed, mode, programs, registrar, confirmations, gas_budget_wei } = saved.settings;
  if (named !== null && named.digest !== registrar?.digest)
    throw new SandboxError(
      "snapshot_refused",
      `${from} was saved with ${describeRegistrar(registrar)}, not with ${describeRegistrar(named)}. Leave out the option contracts.registrar.`,
    );
  const asked = {
    seed: options.seed ?? seed,
    mode: options.mode ?? mode,
    programs: options.programs === undefined ? programs : resolvePrograms(options.programs),
  };
  const differing = differingSettings({ seed, mode, programs }, asked);
  if (differing !== null)
    throw new SandboxError(
      "snapshot_refused",
      `${from} was saved with ${differing.kept}, not with ${differing.wanted}. Leave out ${differing.options}.`,
    );
  const completed = { confirmations, gasBudgetWei: gas_budget_wei, ...options, ...asked };
  return { options: completed, saved, registrar: named ?? registrar ?? null };
}
