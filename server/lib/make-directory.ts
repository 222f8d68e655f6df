import { mkdir, stat } from "node:fs/promises";
import { dirname } from "node:path";

/**
 * Makes a directory for this user alone, with the directories above it that are missing. Node's own `recursive` never ends where a
 * directory that is there answers that it is not, as `/proc` does.
 *
 * @returns the first directory that was made; undefined when all were there.
 * @throws Error of the file system, as EEXIST when a file has the name.
 */
export async function makeDirectory(path: string): Promise<string | undefined> {
  try {
    return await makeOne(path);
  } catch (error) {
    const above = dirname(path);
    if (Reflect.get(Object(error), "code") !== "ENOENT" || above === path) throw error;
    const made = await makeDirectory(above);
    const own = await makeOne(path);
    return made ?? own;
  }
}

/** @returns undefined when the directory was there. */
async function makeOne(path: string): Promise<string | undefined> {
  try {
    await mkdir(path, { mode: 0o700 });
    return path;
  } catch (error) {
    const isThere = Reflect.get(Object(error), "code") === "EEXIST";
    if (isThere && (await stat(path)).isDirectory()) return undefined;
    throw error;
  }
}
