import { chown } from "node:fs/promises";

/**
 * Does a step as another user when this one is root, who may write everywhere.
 *
 * @param folders - given to that user.
 */
export async function asOtherUser(folders: readonly string[], step: () => Promise<void>): Promise<void> {
  const other = 65_534;
  const isRoot = process.geteuid?.() === 0;
  if (isRoot) for (const folder of folders) await chown(folder, other, other);
  if (isRoot) process.seteuid?.(other);
  try {
    await step();
  } finally {
    if (isRoot) process.seteuid?.(0);
  }
}
