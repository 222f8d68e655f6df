import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));
const sources = ["protocol", "relayer", "server", "sandbox", "testkit", "check-contract", "cli", "portal"];
const mostEntries = 11;

/** Finds the folders below a folder, itself included, that have more entries than one level may have. */
async function findCrowded(folder: string): Promise<string[]> {
  const entries = await readdir(join(root, folder), { withFileTypes: true });
  const below = entries
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => findCrowded(`${folder}/${name}`));
  return [...(entries.length > mostEntries ? [folder] : []), ...(await Promise.all(below)).flat()];
}

test("a source folder has at most eleven entries, apart from the commands", async () => {
  const crowded = await Promise.all(sources.map(findCrowded));
  expect(crowded.flat()).toEqual(["cli/commands"]);
});
