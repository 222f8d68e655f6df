// Runs the tests: `npm test` those that need npm packages only, with the contracts' own; `npm run test:all` all of them, after it has installed
// the programs that the others need. `--rest` runs what `npm test` does not. Further arguments go to vitest.
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { buffer } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { missingPrograms } from "./test-programs.ts";

const given = process.argv.slice(2);
const [fast, rest] = [!given.includes("--rest"), given.includes("--all") || given.includes("--rest")];
const setUp = fileURLToPath(new URL("set-up-tests.ts", import.meta.url));
if (rest && spawnSync(process.execPath, [setUp], { stdio: "inherit" }).status !== 0) process.exit(1);
const missing = rest ? missingPrograms() : [];
const has = (program: string) => missing.every(({ name }) => name !== program);

const projects = [
  ...(fast ? ["fast"] : []),
  ...(rest ? ["thorough", "slow", "package"] : []),
  ...(rest && has("chromium") ? ["browser"] : []),
  ...(rest && has("postgresql") ? ["postgres"] : []),
];
const options = given.filter((argument) => !["--all", "--rest"].includes(argument));
const vitest = spawn("vitest", ["run", ...projects.flatMap((name) => ["--project", name]), ...options], {
  stdio: "inherit",
});
// The contracts' own tests run at the same time: compiling them keeps one core busy. Their output is shown when vitest has ended.
const contracts = fast ? spawn("hardhat", ["test", "solidity"], { stdio: ["ignore", "pipe", "pipe"] }) : null;
const output = contracts === null ? [] : Promise.all([buffer(contracts.stdout), buffer(contracts.stderr)]);
const passed = await Promise.all([vitest, contracts].map(succeeds));
for (const part of await output) process.stdout.write(part);
for (const { name, tests } of missing)
  console.log(`Skipped: the tests of ${tests}, because ${name} is not installed (apt-get install ${name}).`);
if (passed.includes(false)) process.exitCode = 1;

async function succeeds(child: ChildProcess | null): Promise<boolean> {
  if (child === null) return true;
  const [code] = await once(child, "close");
  return code === 0;
}
