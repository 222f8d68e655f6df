import { lstat, readFile, stat } from "node:fs/promises";

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

/** Reads a file as text; null when there is none that can be read. */
export async function readText(path: string): Promise<string | null> {
  try {
    return (await fileKind(path)) === "file" ? await readFile(path, "utf8") : null;
  } catch {
    return null;
  }
}

async function lookAt<T>(looking: Promise<T>): Promise<T | null> {
  try {
    return await looking;
  } catch (error) {
    if (["ENOENT", "ENOTDIR", "ELOOP"].includes(String(Reflect.get(Object(error), "code")))) return null;
    throw error;
  }
}
