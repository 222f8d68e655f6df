import { describeFileError } from "../../server/lib/describe-file-error.ts";
import { replaceNamedFile } from "../../server/lib/replace-file.ts";

/** Writes the report of a command. @throws Error with the reason when the file cannot be written. */
export async function writeReport(file: string, text: string): Promise<void> {
  await replaceNamedFile(file, text, 0o666).catch((cause: unknown) => {
    throw new Error(`${file} cannot be written: ${describeFileError(cause)}. Pass another file.`, { cause });
  });
}
