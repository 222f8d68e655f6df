import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const root = new URL("../../", import.meta.url);

/** The files that the package ships, without dist/, which a build makes. */
async function shippedFiles(): Promise<string[]> {
  const pack = ["pack", "--dry-run", "--json", "--ignore-scripts"];
  const { stdout } = await promisify(execFile)("npm", pack, { cwd: root, maxBuffer: 2 ** 26 });
  const [packed]: { files: { path: string }[] }[] = JSON.parse(stdout);
  return (packed?.files ?? []).map(({ path }) => path).filter((path) => !path.startsWith("dist/"));
}

test("every link of a document that the package ships and each picture lead to what it ships", async () => {
  const files = await shippedFiles();
  const documents = files.filter((file) => /^docs\/[^/]+\.md$/.test(file));
  expect(documents.length).toBeGreaterThan(10);
  const broken: string[] = [];
  for (const document of documents) {
    const text = (await readFile(new URL(document, root), "utf8")).replaceAll(/^```.*?^```$/gms, "");
    for (const [, target = ""] of text.matchAll(/\]\((?!https?:)([^)#\s]+)/g)) {
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
      "conformance/Cheatcodes",
      "conformance/RegistrarConformance.t",
      "conformance/RegistrarHandler",
      "conformance/RegistrarInvariants.t",
      "conformance/RegistrarReplay",
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
    expect(text).toMatch(
      imported.includes(file) ? /^pragma solidity >=0\.8\.(4|15);$/m : /^pragma solidity 0\.8\.37;$/m,
    );
    for (const [, target = ""] of text.matchAll(/from "(\.[^"]+)";/g))
      expect(files).toContain(new URL(target, new URL(file, root)).href.slice(root.href.length));
  }
});
