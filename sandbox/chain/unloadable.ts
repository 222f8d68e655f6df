import { SandboxError } from "../lib/errors/sandbox-error.ts";
import { anvilVersion } from "./anvil/anvil-binary.ts";

/**
 * The refusal of a snapshot file whose content cannot be loaded, though its checksum is right: it was changed, or Anvil does not load what
 * another Anvil has dumped.
 */
export function unloadable(
  { file, anvil }: { readonly file: string; readonly anvil: string },
  reason: string,
  cause?: unknown,
): SandboxError {
  const remedy =
    anvil === anvilVersion()
      ? "Save it again."
      : `Load it with the version of routing-sandbox that saved it, which has Anvil ${anvil}, or make the state again with this version.`;
  return new SandboxError("snapshot_refused", `${file} cannot be loaded: ${reason}. ${remedy}`, { cause });
}
