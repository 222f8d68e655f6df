import { constants, existsSync } from "node:fs";
import { access, lstat, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { fileKind } from "../../lib/file-kind.ts";
import { StoreDamagedError } from "./checked-lines.ts";

/** The files that may be in the directory of a store, with what is written aside before it takes its name. */
const ownName = /^(store\.json|store\.journal(\.compacting)?|chain(\.[0-9a-f]{16})?\.json)(\.next)?$/;

/** Returns the paths of a store's files in a directory. */
export function filesOf(directory: string) {
  return { snapshot: join(directory, "store.json"), journal: join(directory, "store.journal") };
}

/** Returns the path that a journal is moved to while a snapshot is written that will hold it. */
export function asideOf(journal: string): string {
  return `${journal}.compacting`;
}

/** Returns the path of a file or a directory that is to replace another one. */
export function nextOf(path: string): string {
  return `${path}.next`;
}

/** Returns the path that a replaced directory is moved to. */
export function oldOf(directory: string): string {
  return `${directory}.old`;
}

/** Returns the current path of a directory: another one when a killed process was just replacing it. */
export function readable(directory: string): string {
  return isBeingReplaced(directory) ? nextOf(directory) : directory;
}

/** Returns whether a killed process had just moved a directory away. */
export function isBeingReplaced(directory: string): boolean {
  return !existsSync(directory) && existsSync(oldOf(directory));
}

/**
 * Returns whether a directory holds a store; false when it is missing or empty.
 *
 * @throws StoreDamagedError when its snapshot is missing, when something else has the name of a file, or when the content is not a store.
 */
export async function holdsStore(directory: string): Promise<boolean> {
  const place = readable(directory);
  const names = (await namesIn(place)) ?? [];
  const { snapshot } = filesOf(place);
  // Files ending in .next are left out: they are opened so that they cannot block.
  const own = names.filter((name) => ownName.test(name) && !name.endsWith(".next"));
  for (const file of own.map((name) => join(place, name)))
    if ((await fileKind(file)) === "other") throw new StoreDamagedError(`${file} is not a file. ${restore}`);
  if (existsSync(snapshot)) return true;
  if (place !== directory) {
    // A directory gets its name when it is whole.
    await requireReplaceable(oldOf(directory));
    throw missing(snapshot, oldOf(directory));
  }
  if (names.length === 0) return false;
  throw missing(snapshot, join(place, requireOwn(place, names)));
}

/**
 * Makes sure that the journal of a store is there: it always is, if only without a line.
 *
 * @throws StoreDamagedError
 */
export function requireJournal(directory: string): void {
  const { snapshot, journal } = filesOf(readable(directory));
  // Between two renames, what is put aside has given up its name and the empty journal has not taken it yet.
  const isPuttingAside = existsSync(asideOf(journal)) && existsSync(nextOf(journal));
  if (!existsSync(journal) && !isPuttingAside) throw missing(journal, snapshot);
}

/**
 * Makes sure that a store may take the place of what a directory holds, and can.
 *
 * @throws StoreDamagedError when that is not a store; Error EACCES when this user may not remove it.
 */
export async function requireReplaceable(directory: string): Promise<void> {
  const names = await namesIn(directory);
  if (names === null) return;
  if (names.length > 0) requireOwn(directory, names);
  await access(directory, constants.W_OK | constants.X_OK);
}

/** @returns null when the directory is missing. @throws StoreDamagedError when it is something else. */
async function namesIn(directory: string): Promise<string[] | null> {
  const isThere = await lstat(directory).then(
    () => true,
    (error: unknown) => {
      // A fault of the data directory itself is reported when its lock is taken.
      if (["ENOENT", "ENOTDIR", "ELOOP"].includes(String(Reflect.get(Object(error), "code")))) return false;
      throw error;
    },
  );
  if (!isThere) return null;
  if (!existsSync(directory) || !(await stat(directory)).isDirectory())
    throw new StoreDamagedError(`${directory} is not a directory, so it contains no store. ${moveAway}`);
  return await readdir(directory);
}

/** @returns the first of these names that a store has. @throws StoreDamagedError when it has none of them. */
function requireOwn(directory: string, names: readonly string[]): string {
  const own = names.toSorted().find((name) => ownName.test(name));
  if (own !== undefined) return own;
  throw new StoreDamagedError(`${directory} holds ${names[0]} and no file of a store. ${moveAway}`);
}

const moveAway = "Move it away, or choose another data directory with the option dataDirectory.";
const restore =
  "Restore the data directory from a backup, or choose another one with the option dataDirectory.";

function missing(file: string, there: string): StoreDamagedError {
  return new StoreDamagedError(
    `${file} is missing, although ${there} is there. Restore it from a backup; to begin with a new sandbox, choose another directory with the option dataDirectory, or copy this one away and start with the option fresh.`,
  );
}
