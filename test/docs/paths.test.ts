import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** Files that exist only while a planted bug survives. */
const optional = ["contracts/mutants-allowed.json"];
const folders =
  "protocol|relayer|server|sandbox|testkit|check-contract|cli|portal|scripts|docs|examples|test|contracts";
const path = new RegExp(`\`((?:${folders})/[^\`\\s*<>{}…|]+)\``, "g");

test("every path of the repository that a page has in backticks exists", () => {
  const pages = globSync("{*.md,docs/*.md,portal/*.md}", { cwd: root });
  const named = pages.flatMap((page) =>
    [...readFileSync(join(root, page), "utf8").matchAll(path)].map(([, found = ""]) => ({ page, found })),
  );
  expect(named.length).toBeGreaterThan(20);
  const missing = named.filter(({ found }) => !optional.includes(found) && !existsSync(join(root, found)));
  expect(missing).toEqual([]);
});
