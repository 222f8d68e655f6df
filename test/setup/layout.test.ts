import { existsSync, globSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));
const sources = [
  "protocol",
  "relayer",
  "server",
  "sandbox",
  "testkit",
  "check-contract",
  "cli",
  "hardhat-plugin",
  "portal",
];
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

/** Folders of test/ that test no single folder of the source. */
const ofTheWhole = ["crash", "docs", "end-to-end", "package", "security", "setup"];

/** Folders without tests of their own: the tests of their users run them. */
const testedThroughUsers = [
  "check-contract/fixture",
  "cli/running",
  "relayer/node",
  "sandbox/lib/errors",
  "sandbox/lib/reading",
  "sandbox/lib/time",
  "sandbox/service/keys",
  "sandbox/service/relayer",
  "server/lib",
  "testkit/demo",
];

test("every folder of tests is named as the source folder that it tests", () => {
  const folders = new Set(globSync("**/*.test.ts", { cwd: join(root, "test") }).map(dirname));
  const other = [...folders].filter(
    (folder) => !ofTheWhole.includes(folder.split("/")[0] ?? "") && !existsSync(join(root, folder)),
  );
  expect(other).toEqual([]);
});

test("every part of the source has tests in the same folder of test/, or is tested through its users", () => {
  const parts = globSync(["{protocol,relayer,server,testkit,check-contract,cli,portal}/*", "sandbox/*/*"], {
    cwd: root,
  });
  const untested = parts.filter(
    (part) =>
      globSync(`${part}/*.ts`, { cwd: root }).length > 0 &&
      globSync(`test/${part}/**/*.test.ts`, { cwd: root }).length === 0,
  );
  expect(untested.sort()).toEqual(testedThroughUsers);
});
