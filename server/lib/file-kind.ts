import { createReadStream, fdatasync, fsync, type Mode } from "node:fs";
import { type FileHandle, lstat, open, readFile, stat } from "node:fs/promises";
import { promisify } from "node:util";
import { codeOf } from "../../protocol/coded-error.ts";

/**
 * Says what has the name of a file. A directory, a pipe, a socket, a device and a symbolic link that leads to none are `other`: to read a
 * pipe or a device might never end.
 *
 * @throws Error of the file system when this user may not look.
 * @example if ((await fileKind(lock)) === "other") throw new Error(`${lock} is not a file.`)
 */
export async function fileKind(path: string): Promise<"file" | "other" | "missing"> {
  const isThere = await lookAt(lstat(path));
  if (isThere === null) return "missing";
  return (await lookAt(stat(path)))?.isFile() === true ? "file" : "other";
}

/** The longest file of the sandbox's own that is read as text, in bytes. */
const mostOwnBytes = 1024 * 1024;

/**
 * Reads a file of a data directory as text; null when there is none that a sandbox can have written.
 *
 * @throws Error of the file system when this user may not read it.
 */
export async function readText(path: string): Promise<string | null> {
  if ((await fileKind(path)) !== "file" || (await stat(path)).size > mostOwnBytes) return null;
  return await readFile(path, "utf8");
}

/**
 * Reads all of a file, a pipe or a stream that a user names.
 *
 * @param source - a path, or a stream such as the standard input.
 * @throws Error of the file system; Error that says so when there are more bytes than `most`: no more than that are read.
 */
export async function readInput(
  source: string | AsyncIterable<Buffer | string>,
  most: number,
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const part of typeof source === "string" ? createReadStream(source) : source) {
    const chunk = typeof part === "string" ? Buffer.from(part) : part;
    length += chunk.length;
    if (length > most) throw new Error(`it has more than ${most / 2 ** 20} MiB`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/**
 * Opens a file, as `open` of Node does, and completes the handles of Yarn's Plug'n'Play, which replaces that function: they have no disposal, and
 * cannot sync.
 */
export async function openFile(path: string, flags: string | number, mode?: Mode): Promise<FileHandle> {
  const handle = await open(path, flags, mode);
  if (Reflect.has(handle, Symbol.asyncDispose)) return handle;
  const { fd } = handle;
  handle.sync = async () => await promisify(fsync)(fd);
  handle.datasync = async () => await promisify(fdatasync)(fd);
  handle[Symbol.asyncDispose] = async () => await handle.close();
  return handle;
}

async function lookAt<T>(looking: Promise<T>): Promise<T | null> {
  try {
    return await looking;
  } catch (error) {
    if (["ENOENT", "ENOTDIR", "ELOOP"].includes(codeOf(error) ?? "")) return null;
    throw error;
  }
}
