import { access, constants, rm, rmdir } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { messageOf } from "../../protocol/coded-error.ts";
import { describeFileError } from "../../server/lib/describe-file-error.ts";
import { makeDirectory } from "../../server/lib/make-directory.ts";
import { replaceNamedFile, requireReplaceable } from "../../server/lib/replace-file.ts";
import { SandboxError } from "../lib/errors/sandbox-error.ts";
import { writeSnapshot } from "../snapshots/file/snapshot-file.ts";
import { type MakeTrace, noSubject } from "./make-trace.ts";
import { snapshotOf } from "./snapshot-of.ts";
import type { TraceSubject } from "./trace-view.ts";

/** The permissions of a new trace, less the process's umask. */
const mode = 0o666;

/** The files of a trace. */
export interface TraceFiles {
  /** The HTML file. */
  file: string;
  /** The snapshot file; null when there is none. */
  snapshot: string | null;
  /** Why there is no snapshot file; null when there is one. */
  snapshot_problem: string | null;
}

/** The permissions of the folder of a trace, less the process's umask. */
const folderMode = 0o777;

/**
 * Checks that traces can be written to a folder: makes it, and removes what it has made.
 *
 * @throws SandboxError trace_refused when it cannot be written to.
 */
export async function requireTraceFolder(folder: string): Promise<void> {
  try {
    const made = await makeDirectory(folder, folderMode);
    await access(folder, constants.W_OK);
    if (made === undefined) return;
    for (let path = folder; path.length >= made.length; path = dirname(path))
      // Another check may have written a trace.
      await rmdir(path).catch(() => undefined);
  } catch (cause) {
    const message = `Traces cannot be written to ${folder}: ${describeFileError(cause)}. Name another folder.`;
    throw new SandboxError("trace_refused", message, { cause });
  }
}

/**
 * Writes a trace and its snapshot file.
 *
 * @throws SandboxError trace_refused when the trace cannot be written.
 */
export async function writeTrace(
  file: string,
  {
    makeTrace,
    encodeSnapshot,
    ...subject
  }: {
    makeTrace: MakeTrace;
    encodeSnapshot: () => Promise<Uint8Array>;
  } & Partial<Pick<TraceSubject, "test" | "failures">>,
): Promise<TraceFiles> {
  // Before the snapshot file, which a refused trace must not leave.
  await makeDirectory(dirname(file), folderMode)
    .then(async () => await requireReplaceable(file, mode))
    .catch((error: unknown) => refuse(file, error));
  const snapshot = snapshotOf(file);
  const problem = await encodeSnapshot()
    .then(async (content) => await writeSnapshot(snapshot, content))
    .then(() => null)
    .catch(messageOf);
  const name = problem === null ? basename(snapshot) : null;
  const page = await makeTrace({ ...noSubject, ...subject, snapshot: name, snapshot_problem: problem });
  await replaceNamedFile(file, page, mode).catch(async (error: unknown) => {
    if (problem === null) await rm(snapshot, { force: true });
    refuse(file, error);
  });
  return { file, snapshot: problem === null ? snapshot : null, snapshot_problem: problem };
}

function refuse(file: string, error: unknown): never {
  throw new SandboxError(
    "trace_refused",
    `The trace ${file} cannot be written: ${describeFileError(error)}. Name another file.`,
    {
      cause: error,
    },
  );
}
