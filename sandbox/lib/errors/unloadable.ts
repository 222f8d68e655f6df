import { SandboxError } from "./sandbox-error.ts";

/** The refusal of a snapshot file whose content cannot be loaded, though its checksum is right. */
export function unloadable(file: string, reason: string, cause?: unknown): SandboxError {
  return new SandboxError("snapshot_refused", `${file} cannot be loaded: ${reason}. Save it again.`, {
    cause,
  });
}
