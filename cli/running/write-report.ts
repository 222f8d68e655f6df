import { access, constants, realpath, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { describeFileError } from "../../server/lib/describe-file-error.ts";
import { fileKind } from "../../server/lib/file-kind.ts";
import { replaceNamedFile } from "../../server/lib/replace-file.ts";

/** Writes the report of a command. @throws Error with the reason when the file cannot be written. */
export async function writeReport(file: string, text: string): Promise<void> {
  await replaceNamedFile(file, text, 0o666).catch((cause: unknown) => refuseFile(file, cause));
}

/** Checks that the report can be written, before a command begins. @throws Error with the reason when it cannot. */
export async function requireReportFile(file: string): Promise<void> {
  const checking = (async () => {
    const kind = await fileKind(file);
    if (kind === "other" && (await stat(file).catch(() => null))?.isDirectory())
      throw Object.assign(new Error(), { code: "EISDIR" });
    // A file is replaced by one that is written next to it.
    if (kind !== "other")
      await access(dirname(kind === "file" ? await realpath(file) : file), constants.W_OK);
  })();
  await checking.catch((cause: unknown) => refuseFile(file, cause));
}

function refuseFile(file: string, cause: unknown): never {
  throw new Error(`${file} cannot be written: ${describeFileError(cause)}. Pass another file.`, { cause });
}
