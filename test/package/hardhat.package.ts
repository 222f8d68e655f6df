import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { type Consumer, installInto } from "./consumer.ts";

const { devDependencies } = manifest;
const page = await readFile(new URL("../../docs/check-contract.md", import.meta.url), "utf8");
let project: Consumer;

/** The code blocks of a section of the page, by their first line. */
function blocksOf(heading: string): { info: string; code: string }[] {
  const [, rest = ""] = page.split(`## ${heading}\n`);
  const [section = ""] = rest.split(/^## /m);
  return [...section.matchAll(/^```(.*)\n([\s\S]*?)^```$/gm)].map(([, info = "", code = ""]) => ({
    info,
    code,
  }));
}

async function write(file: string, text: string): Promise<void> {
  await mkdir(dirname(join(project.folder, file)), { recursive: true });
  await writeFile(join(project.folder, file), text);
}

// The project of the page, with the packages of this checkout and a compiler that Hardhat does not have to download.
beforeAll(async () => {
  const packages = ["hardhat", "@openzeppelin/contracts", "solc"] as const;
  project = await installInto(...packages.map((name) => `${name}@${devDependencies[name]}`));
  for (const { info, code } of blocksOf("Use the Hardhat plugin")) {
    const [, file] = info.split(" ");
    if (file !== undefined) await write(file, code);
  }
  const config = await readFile(join(project.folder, "hardhat.config.ts"), "utf8");
  const path = join(project.folder, "node_modules", "solc", "soljson.js");
  await write("hardhat.config.ts", config.replace('version: "0.8.37"', `$&, path: ${JSON.stringify(path)}`));
  const [setUp] = blocksOf("Try it on a bug");
  const copy = (setUp?.code ?? "").split("\n").filter((line) => !line.startsWith("npm "));
  await project.run("sh", "-ec", copy.join("\n"));
});

afterAll(async () => {
  await project[Symbol.asyncDispose]();
});

test("check-registrar passes the contract of the package", async () => {
  const report = await project.run(
    "npx",
    "hardhat",
    "check-registrar",
    "PurchaseRegistrar",
    "--only",
    "claim",
  );
  expect(report).toMatch(/^PurchaseRegistrar: \d+ passed, 0 failed/m);
});

test("the bug of the page is found, and its rule is named as the page says", async () => {
  const [, plant, expected] = blocksOf("Try it on a bug");
  const failure = await project.run("sh", "-ec", plant?.code ?? "").then(String, ({ message }) => message);
  expect(failure).toContain("failed (1)");
  expect(failure).toContain(expected?.code.trim());
  const bailed = await project
    .run("npx", "hardhat", "check-registrar", "PurchaseRegistrar", "--only", "claim", "--bail")
    .then(String, ({ message }) => message);
  expect(bailed).toMatch(/^PurchaseRegistrar: \d+ passed, 1 failed, \d+ not run/m);
});

test("the script of the page runs on the network sandbox, in the sandbox of a single command", async () => {
  const commands = blocksOf("Use the Hardhat plugin").filter(({ info }) => info === "sh");
  const printed = await project.run("sh", "-ec", commands.at(-1)?.code ?? "");
  expect(printed).toMatch(/^0x[0-9a-fA-F]{40} 0x[0-9a-f]+$/m);
});
