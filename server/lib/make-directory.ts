import { mkdir, stat } from "node:fs/promises";
import { dirname } from "node:path";

/**
 * Makes a directory with the directories above it that are missing. Node's own `recursive` never ends where a directory that is there answers
 * that it is not, as `/proc` does.
 *
 * @param mode - the permissions, less the process's umask; those for this user alone if not given.
 * @returns the first directory that was made; undefined when all were there.
 * @throws Error of the file system, as EEXIST when a file has the name.
 */
export async function makeDirectory(path: string, mode = 0o700): Promise<string | undefined> {
  try {
    return await makeOne(path, mode);
  } catch (error) {
    const above = dirname(path);
    if (Reflect.get(Object(error), "code") !== "ENOENT" || above === path) throw error;
    const made = await makeDirectory(above, mode);
    const own = await makeOne(path, mode);
    return made ?? own;
  }
}

/** @returns undefined when the directory was there. */
async function makeOne(path: string, mode: number): Promise<string | undefined> {
  try {
    await mkdir(path, { mode });
    return path;
  } catch (error) {
    const isThere = Reflect.get(Object(error), "code") === "EEXIST";
    if (isThere && (await stat(path)).isDirectory()) return undefined;
    throw error;
  }
}
