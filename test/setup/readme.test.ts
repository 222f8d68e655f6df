import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const root = new URL("../../", import.meta.url);

test("the first test that the README shows also runs here", async () => {
  const readme = await readFile(new URL("README.md", root), "utf8");
  const runs = await readFile(new URL("test/testkit/first-test.test.ts", root), "utf8");
  const shown = /```ts\n([\s\S]*?)```/.exec(readme)?.[1];
  const imported = runs
    .replace("../../sandbox/service/client/api-client.ts", "routing-sandbox/client")
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

/** The files that the package ships, without dist/, which a build makes. */
async function shippedFiles(): Promise<string[]> {
  const pack = ["pack", "--dry-run", "--json", "--ignore-scripts"];
  const { stdout } = await promisify(execFile)("npm", pack, { cwd: root, maxBuffer: 2 ** 26 });
  const [packed]: { files: { path: string }[] }[] = JSON.parse(stdout);
  return (packed?.files ?? []).map(({ path }) => path).filter((path) => !path.startsWith("dist/"));
}

test("every link of a document that the package ships leads to what it ships; a picture that it leaves out is shown as its text", async () => {
  const files = await shippedFiles();
  const documents = files.filter((file) => /^docs\/[^/]+\.md$/.test(file));
  expect(documents.length).toBeGreaterThan(10);
  const broken: string[] = [];
  for (const document of documents) {
    const text = (await readFile(new URL(document, root), "utf8")).replaceAll(/^```.*?^```$/gms, "");
    for (const [, target = ""] of text.matchAll(/(?<!!\[[^\]]*)\]\((?!https?:)([^)#\s]+)/g)) {
      const path = new URL(target, new URL(document, root)).href.slice(root.href.length);
      if (!files.some((file) => file === path || file.startsWith(`${path}/`)))
        broken.push(`${document}: ${target}`);
    }
  }
  expect(broken).toEqual([]);
});

test("the package ships the registrar contract and the Solidity files to import, each with what it imports", async () => {
  const files = (await shippedFiles()).filter((file) => file.endsWith(".sol"));
  // The contract with its own parts, to plant bugs in a copy.
  const registrar = ["CanonicalCalldata", "ExactTransfer", "FundingSource", "PurchaseRegistrar"];
  expect(files.filter((file) => file.split("/").length === 2).sort()).toEqual(
    registrar.map((name) => `contracts/${name}.sol`),
  );
  const imported = files.filter((file) => file.split("/").length > 2);
  expect(imported).toEqual(
    [
      "conformance/RegistrarConformance.t",
      "hashing/RegistrarHashing",
      "interfaces/ICommonErrors",
      "interfaces/IFundingSource",
      "interfaces/IPurchaseRegistrar",
      "mocks/MockFundingSource",
      "mocks/MockToken",
      "mocks/MockWallet",
    ].map((name) => `contracts/${name}.sol`),
  );
  for (const file of files) {
    const text = await readFile(new URL(file, root), "utf8");
    expect(text).toContain(imported.includes(file) ? "pragma solidity >=0.8.4;" : "pragma solidity 0.8.37;");
    for (const [, target = ""] of text.matchAll(/from "(\.[^"]+)";/g))
      expect(files).toContain(new URL(target, new URL(file, root)).href.slice(root.href.length));
  }
});
