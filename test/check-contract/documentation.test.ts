import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { attacks } from "../../check-contract/attacks/all.ts";
import { notCheckedPage } from "../../check-contract/render-report.ts";
import { checkNames } from "../../protocol/binding/check-binding.ts";
import { packageRoot } from "../../sandbox/lib/package-root.ts";

const page = await readFile(join(packageRoot(), "docs", "check-contract.md"), "utf8");

/** The rows of a marked table, without its two head lines. */
function rowsOf(marker: string): string[][] {
  const [, rest = ""] = page.split(`<!-- ${marker} -->\n`);
  const [table = ""] = rest.split(`<!-- /${marker} -->`);
  return table
    .trimEnd()
    .split("\n")
    .slice(2)
    .map((row) => row.slice(2, -2).split(" | "));
}

test("the page lists exactly the attacks with their expected answers, in order", () => {
  const expected = attacks.map(({ area, name, stopped }) => {
    const { status, code, failed } = stopped;
    const checks = failed.length === 0 ? "" : ` by ${failed.map((check) => `\`${check}\``).join(", ")}`;
    return [area, name, (code === null ? `${status}` : `${status} \`${code}\``) + checks];
  });
  expect(rowsOf("attacks")).toEqual(expected);
});

test("the page has the part on what is not checked, which each report names", () => {
  const [file, anchor = ""] = notCheckedPage.split("#");
  expect(file).toBe("docs/check-contract.md");
  expect(page).toContain(`\n## ${anchor.replace("-", " ").replace("n", "N")}\n`);
});

test("no two attacks have the same name", () => {
  expect(new Set(attacks.map(({ name }) => name)).size).toBe(attacks.length);
});

test("every test that the page names exists in its file", async () => {
  const rows = rowsOf("elsewhere");
  expect(rows.length).toBeGreaterThan(10);
  for (const [attack = "", file = "", title = ""] of rows) {
    const text = await readFile(join(packageRoot(), file), "utf8");
    expect(text.includes(title), `${attack}: ${file} has no test "${title}"`).toBe(true);
  }
});

test("every check is explained, and each one stops an attack", async () => {
  const checks = await readFile(join(packageRoot(), "docs", "binding.md"), "utf8");
  for (const name of checkNames) expect(checks, name).toContain(`| \`${name}\` | `);
  const stopping = new Set(attacks.flatMap(({ stopped }) => stopped.failed));
  // A node of another chain is refused before anything is checked.
  expect(attacks.filter(({ stopped }) => stopped.code === "chain_mismatch")).toHaveLength(2);
  expect(checkNames.filter((name) => name !== "chain" && !stopping.has(name))).toEqual([]);
});
