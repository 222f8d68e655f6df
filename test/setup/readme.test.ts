import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";

const root = new URL("../../", import.meta.url);

test("the first test that the README shows also runs here", async () => {
  const readme = await readFile(new URL("README.md", root), "utf8");
  const runs = await readFile(new URL("test/testkit/first-test.test.ts", root), "utf8");
  const shown = /```ts\n([\s\S]*?)```/.exec(readme)?.[1];
  const imported = runs
    .replace("../../sandbox/client/api-client.ts", "routing-sandbox/client")
    .replace("../../testkit/vitest.ts", "routing-sandbox/vitest");
  expect(shown).toBe(imported);
  expect(runs.trimEnd().split("\n").length).toBeLessThanOrEqual(20);
  for (const part of ["given.purchase(", "/refunds"]) expect(runs).toContain(part);
});

test("the README names one Node version, the oldest that the package supports", async () => {
  const readme = await readFile(new URL("README.md", root), "utf8");
  const { engines } = JSON.parse(await readFile(new URL("package.json", root), "utf8"));
  const named = [...readme.matchAll(/Node (\d[\d.]*\d)/g)].map(([, version]) => `>=${version}.0`);
  expect(named).toEqual([engines.node]);
});

test("every file that the README, ARCHITECTURE.md and CONTRIBUTING.md link to exists", async () => {
  for (const page of ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"]) {
    const text = await readFile(new URL(page, root), "utf8");
    for (const [, target = ""] of text.matchAll(/\]\((?!https?:)([^)#]+)/g))
      await expect(readFile(new URL(target, root)), `${page} links to ${target}`).resolves.toBeDefined();
  }
});
