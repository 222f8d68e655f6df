import { mkdtemp, rmdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describeFileError } from "../../server/lib/describe-file-error.ts";

/**
 * Says why this user cannot make folders in the folder for temporary files; null if nothing prevents it.
 *
 * @example await temporaryFault() // "The folder for temporary files /tmp cannot be used: the disk is read-only (EROFS, /tmp/.)."
 */
export async function temporaryFault(): Promise<string | null> {
  // The system's permissions do not say it: root may write to /proc, and cannot.
  return await mkdtemp(join(tmpdir(), "routing-sandbox-try-")).then(
    async (folder) => await rmdir(folder).then(() => null),
    (error: unknown) =>
      `The folder for temporary files ${tmpdir()} cannot be used: ${describeFileError(error)}.`,
  );
}

/** The remedy for a {@link temporaryFault}. */
export const temporaryRemedy = "Set TMPDIR to a folder that you may write to";
