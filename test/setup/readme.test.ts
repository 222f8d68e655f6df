import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";

const root = new URL("../../", import.meta.url);

test("the first test that the README shows is one that runs here", async () => {
  const readme = await readFile(new URL("README.md", root), "utf8");
  const runs = await readFile(new URL("test/testkit/first-test.test.ts", root), "utf8");
  const shown = /```ts\n([\s\S]*?)```/.exec(readme)?.[1];
  const imported = runs
    .replace("../../sandbox/service/client/api-client.ts", "routing-sandbox/client")
    .replace("../../testkit/vitest.ts", "routing-sandbox/vitest");
  expect(shown).toBe(imported);
  expect(runs.trimEnd().split("\n")).toHaveLength(10);
});

test("every file that the README, ARCHITECTURE.md and CONTRIBUTING.md link to exists", async () => {
  for (const page of ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"]) {
    const text = await readFile(new URL(page, root), "utf8");
    for (const [, target = ""] of text.matchAll(/\]\((?!https?:)([^)#]+)/g))
      await expect(readFile(new URL(target, root)), `${page} links to ${target}`).resolves.toBeDefined();
  }
});
