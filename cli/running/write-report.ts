import { describeFileError } from "../../server/lib/describe-file-error.ts";
import { replaceNamedFile, requireReplaceable } from "../../server/lib/replace-file.ts";

/** The permissions of a new report, less the process's umask. */
const reportMode = 0o666;

/** Writes the report of a command. @throws Error with the reason when the file cannot be written. */
export async function writeReport(file: string, text: string): Promise<void> {
  await replaceNamedFile(file, text, reportMode).catch((cause: unknown) => refuseFile(file, cause));
}

/** Checks that the report can be written, before a command begins. @throws Error with the reason when it cannot. */
export async function requireReportFile(file: string): Promise<void> {
  await requireReplaceable(file, reportMode).catch((cause: unknown) => refuseFile(file, cause));
}

function refuseFile(file: string, cause: unknown): never {
  throw new Error(`${file} cannot be written: ${describeFileError(cause)}. Pass another file.`, { cause });
}
