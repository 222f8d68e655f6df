import { execFile } from "node:child_process";
import { readFile, stat } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { publint } from "publint";
import { expect, inject, test } from "vitest";

const execute = promisify(execFile);
const checkout = fileURLToPath(new URL("../..", import.meta.url));
const tarball = inject("tarball");

async function files(): Promise<string[]> {
  const { stdout } = await execute("tar", ["-tzf", tarball]);
  return stdout.trim().split("\n");
}

test("the package contains the programs and the documents, and nothing else", async () => {
  const top = new Set((await files()).map((file) => file.replace(/^package\/((?:dist\/)?[^/]+).*$/, "$1")));
  expect([...top].sort()).toEqual([
    "AGENTS.md",
    "CHANGELOG.md",
    "LICENSE",
    "README.md",
    "contracts",
    "dist/.genesis",
    "dist/artifacts",
    "dist/bundle",
    "dist/cli",
    "dist/hardhat-plugin",
    "dist/portal",
    "dist/protocol",
    "dist/reference.json.br",
    "dist/relayer",
    "dist/sandbox",
    "dist/server",
    "dist/testkit",
    "docs",
    "package.json",
    "portal",
    "scenarios",
  ]);
  expect((await files()).filter((file) => /(?<!\.d)\.ts$|build-info|\.test\./.test(file))).toEqual([]);
  expect((await files()).filter((file) => file.endsWith(".sol")).sort()).toEqual(
    [
      "CanonicalCalldata",
      "ExactTransfer",
      "FundingSource",
      "PurchaseRegistrar",
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
    ].map((name) => `package/contracts/${name}.sol`),
  );
  // 150 KB of them are the pictures of the documents.
  expect((await stat(tarball)).size).toBeLessThan(1_310_000);
});

test("it contains exactly one prepared chain", async () => {
  const genesis = (await files()).filter((file) => file.includes("/.genesis/"));
  expect(genesis.map((file) => file.split("/").at(-1)).sort()).toEqual(["genesis.json", "state.json.br"]);
});

test("the script of a page is one file, so that a browser asks for no module after another one", async () => {
  const scripts = (await files()).filter((file) => /\/portal\/.*\.js$/.test(file));
  expect(scripts.sort()).toEqual(
    ["documentation", "explorer", "reference", "wallet"].map((page) => `package/dist/portal/${page}/main.js`),
  );
});

test("publint finds nothing in it", async () => {
  const { buffer } = new Uint8Array(await readFile(tarball));
  expect((await publint({ pack: { tarball: buffer } })).messages).toEqual([]);
});

test("are-the-types-wrong finds nothing in it for programs that use ES modules", async () => {
  const attw = `${checkout}node_modules/.bin/attw`;
  const { stdout } = await execute(attw, [tarball, "--profile", "esm-only", "--format", "ascii"]);
  expect(stdout).toContain('"routing-sandbox/vitest"');
});
