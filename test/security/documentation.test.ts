import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { packageRoot } from "../../sandbox/lib/package-root.ts";

test("every claim of docs/security.md names a test that exists", async () => {
  const page = await readFile(join(packageRoot(), "test", "security", "claims.md"), "utf8");
  const [, table = ""] = /<!-- claims -->\n(.*)<!-- \/claims -->/s.exec(page) ?? [];
  const rows = table
    .trimEnd()
    .split("\n")
    .slice(2)
    .map((row) => row.slice(2, -2).split(" | "));
  expect(rows.length).toBeGreaterThan(15);
  for (const [claim = "", file = "", title = ""] of rows) {
    const text = await readFile(join(packageRoot(), file), "utf8");
    expect(text.includes(title), `${claim}: ${file} has no test "${title}"`).toBe(true);
  }
});
