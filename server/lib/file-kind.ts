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

/** The limits of a file that a user names. */
export interface InputLimits {
  bytes: number;
  /** The values of JSON or YAML, with their separators: parsed, a short one takes up to a thousand times as much memory as its text. */
  values?: number;
}

const byteOrderMark = Buffer.from("\uFEFF");

/**
 * Reads all of a file, a pipe or a stream that a user names.
 *
 * @param source - a path, or a stream such as the standard input.
 * @throws Error of the file system; Error that says so for a named pipe, which would keep a thread, and when there is more than `most`: no more
 * bytes than that are read.
 */
export async function readInput(
  source: string | AsyncIterable<Buffer | string>,
  most: InputLimits,
): Promise<Buffer> {
  if (typeof source === "string" && !isOwnPipe(source) && (await stat(source)).isFIFO())
    throw new Error("it is a named pipe, whose reader waits until a program writes to it");
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const part of typeof source === "string" ? createReadStream(source) : source) {
    const chunk = typeof part === "string" ? Buffer.from(part) : part;
    length += chunk.length;
    if (length > most.bytes) throw new Error(`it has more than ${most.bytes / 2 ** 20} MiB`);
    chunks.push(chunk);
  }
  const content = Buffer.concat(chunks);
  // A byte order mark, as some editors and shells write it, is not part of a text.
  const bytes = content.subarray(content.indexOf(byteOrderMark) === 0 ? byteOrderMark.length : 0);
  if (most.values !== undefined && countValues(bytes) > most.values)
    throw new Error(`it has more than ${most.values} values`);
  return bytes;
}

/** Returns whether a path is a pipe of this process: its standard input, or what a shell makes of `<(command)`. */
function isOwnPipe(path: string): boolean {
  return /^\/(?:dev|proc)\//.test(path);
}

/** Counts what begins or separates values of JSON or YAML: at least as many as there are values, and twice as many in a list of YAML. */
export const countValues = (bytes: Uint8Array): number => countBytes(bytes, "[{,\n-");

/** Counts the bytes that are one of these characters: of those that begin or separate values, before they are parsed. */
export function countBytes(bytes: Uint8Array, characters: string): number {
  const codes = Buffer.from(characters);
  let count = 0;
  for (const byte of bytes) if (codes.includes(byte)) count += 1;
  return count;
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
