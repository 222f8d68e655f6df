import { cp, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { type Consumer, installInto } from "./consumer.ts";

const example = fileURLToPath(new URL("../../examples/foundry", import.meta.url));
const forge = "@foundry-rs/forge@1.7.1";
let project: Consumer;

/** The compiler as forge calls it, which would download a native one. */
const compiler = `#!/usr/bin/env node
const solc = require("solc");
const version = solc.version().replace(/\\.Emscripten.*/, ".Linux.g++");
if (process.argv.includes("--version")) console.log("solc, the solidity compiler commandline interface\\nVersion: " + version);
else process.stdout.write(solc.compile(require("node:fs").readFileSync(0, "utf8")));
`;

beforeAll(async () => {
  const { "@openzeppelin/contracts": openzeppelin, solc } = manifest.devDependencies;
  project = await installInto(forge, `@openzeppelin/contracts@${openzeppelin}`, `solc@${solc}`);
  const { folder } = project;
  await cp(example, folder, { recursive: true });
  await writeFile(join(folder, "solc.cjs"), compiler, { mode: 0o755 });
  const settings = await readFile(join(folder, "foundry.toml"), "utf8");
  const changed = settings.replace('solc = "0.8.37"', 'solc = "./solc.cjs"\noffline = true');
  await writeFile(join(folder, "foundry.toml"), changed);
});

afterAll(async () => {
  await project[Symbol.asyncDispose]();
});

test("forge test passes on the example", async () => {
  expect(await project.run("npm", "test")).toMatch(/ [1-9]\d* passed; 0 failed; 0 skipped/);
});

test("the script of the example sends its transaction to a sandbox", async () => {
  const printed = await project.run("npm", "run", "approve");
  expect(printed).toContain("allowance: uint256 25000000");
  expect(printed).toContain("ONCHAIN EXECUTION COMPLETE & SUCCESSFUL.");
});

test("a script takes and restores a snapshot of the whole sandbox with evm_snapshot and evm_revert", async () => {
  expect(await project.run("npm", "run", "snapshot")).toContain("isRestored: bool true");
});

test("a planted bug fails forge test, and check-contract names its rule", async () => {
  const { folder } = project;
  const contracts = "node_modules/routing-sandbox/contracts";
  await project.run("sh", "-c", `cp -r ${contracts}/*.sol ${contracts}/interfaces src`);
  const file = join(folder, "src", "PurchaseRegistrar.sol");
  const source = await readFile(file, "utf8");
  await writeFile(file, source.replace("        _requireWithin(record.claimDeadline);\n", ""));
  const own = join(folder, "src", "MyRegistrar.sol");
  const registrar = await readFile(own, "utf8");
  await writeFile(own, registrar.replace("routing-sandbox/contracts/", "./"));
  const failure = async (script: string) =>
    await project.run("npm", "run", script).then(String, ({ message }) => message);
  expect(await failure("test")).toContain(
    '[FAIL: NotRefused("late claim")] test_deadlinesIncludeTheirLastSecond()',
  );
  expect(await failure("check")).toContain("✗ a claim after the deadline is refused");
});
