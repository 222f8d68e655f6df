import { access, constants } from "node:fs/promises";
import { tmpdir } from "node:os";
import { describeFileError } from "../../server/lib/describe-file-error.ts";

/**
 * Says why this user cannot make folders in the folder for temporary files; null if nothing prevents it.
 *
 * @example await temporaryFault() // "The folder for temporary files /tmp cannot be used: the disk is read-only (EROFS, /tmp/.)."
 */
export async function temporaryFault(): Promise<string | null> {
  return await access(`${tmpdir()}/.`, constants.W_OK | constants.X_OK).then(
    () => null,
    (error: unknown) =>
      `The folder for temporary files ${tmpdir()} cannot be used: ${describeFileError(error)}.`,
  );
}

/** The remedy for a {@link temporaryFault}. */
export const temporaryRemedy = "Set TMPDIR to a folder that you may write to";
