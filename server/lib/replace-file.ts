import { access, constants, type FileHandle, realpath, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { fileKind, openFile } from "./file-kind.ts";

const { O_WRONLY, O_CREAT, O_TRUNC } = constants;
/** A pipe that nothing reads would never open. Windows has no such flag, and no such pipes. */
const nonblocking = constants.O_NONBLOCK ?? 0;

/** The content of a file: all of it, or a function that writes it. */
export type FileContent = string | Uint8Array | ((file: FileHandle) => Promise<void>);

/** The options of replacing a file. */
export interface ReplaceOptions {
  /** The permissions of the new file, less the process's umask; its owner alone may read it if not given. */
  readonly mode?: number;
  /**
   * The path that the content is written to first, in the same directory; `<file>.next` if not given. Needs a name of
   * its own when several processes may replace the file at once.
   */
  readonly next?: string;
  /** Called when the content is on disk, before it takes the place of what was there; that stays if it rejects. */
  readonly confirm?: () => Promise<void>;
}

/**
 * Writes a file that is there whole or not at all: readers find the old content or the new one, also after a crash or a power
 * failure. When it resolves, content and name are on disk. When the content cannot be written, what was there stays and nothing is
 * left next to it.
 */
export async function replaceFile(
  file: string,
  content: FileContent,
  { mode = 0o600, next = `${file}.next`, confirm }: ReplaceOptions = {},
): Promise<void> {
  try {
    await using handle = await openFile(next, O_WRONLY | O_CREAT | O_TRUNC | nonblocking, mode);
    if (typeof content === "function") await content(handle);
    else await handle.writeFile(content);
    await handle.sync();
    await confirm?.();
    await rename(next, file);
  } catch (error) {
    // On a full disk it only takes the room that is needed.
    await rm(next, { force: true }).catch(() => undefined);
    throw error;
  }
  await syncDirectory(dirname(file));
}

/**
 * Writes a file that a user named, as {@link replaceFile} does. A symbolic link stays, and what it leads to is replaced; a pipe or a device
 * such as `/dev/stdout` is written to.
 *
 * @param mode - the permissions of the new file, less the process's umask.
 */
export async function replaceNamedFile(
  file: string,
  content: string | Uint8Array,
  mode: number,
): Promise<void> {
  const kind = await fileKind(file);
  if (kind === "other") await writeFile(file, content, { mode });
  else await replaceFile(kind === "file" ? await realpath(file) : file, content, { mode });
}

/**
 * Checks that {@link replaceNamedFile} can write a file: creates the one that the content is written to first, and removes it.
 *
 * @throws Error of the file system when it cannot be written.
 */
export async function requireReplaceable(file: string, mode: number): Promise<void> {
  const kind = await fileKind(file);
  if (kind === "other") {
    if ((await stat(file).catch(() => null))?.isDirectory())
      throw Object.assign(new Error(), { code: "EISDIR" });
    return;
  }
  const target = kind === "file" ? await realpath(file) : file;
  // Its error names the directory.
  await access(dirname(target), constants.W_OK);
  const next = `${target}.next`;
  await using _ = await openFile(next, O_WRONLY | O_CREAT | O_TRUNC | nonblocking, mode);
  await rm(next);
}

/** Gives a file that is synced another name in its directory, durably; what had that name is gone. */
export async function renameFile(from: string, to: string): Promise<void> {
  await rename(from, to);
  await syncDirectory(dirname(to));
}

/** Makes what a directory lists durable: files that were created, renamed or removed in it. */
export async function syncDirectory(directory: string): Promise<void> {
  await using handle = await openFile(directory, "r");
  await handle.sync();
}
