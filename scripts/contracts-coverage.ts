// Runs the Solidity tests with Hardhat's coverage in a copy under cache/, so that no instrumented artifact replaces a real one,
// and fails unless every line of the deployed contracts is run. Hardhat reports lines and statements, not branches: that both
// sides of every condition are tested is what `npm run mutate:contracts` shows.
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const WORKSPACE = join(ROOT, "cache", "coverage");
const DEPLOYED = ["CanonicalCalldata", "ExactTransfer", "FundingSource", "PurchaseRegistrar", "TestUSDC"];

rmSync(WORKSPACE, { recursive: true, force: true });
mkdirSync(WORKSPACE, { recursive: true });
for (const entry of ["contracts", "hardhat.config.ts", "package.json"]) {
  cpSync(join(ROOT, entry), join(WORKSPACE, entry), { recursive: true });
}
symlinkSync(join(ROOT, "node_modules"), join(WORKSPACE, "node_modules"));

const hardhat = join(ROOT, "node_modules", "hardhat", "dist", "src", "cli.js");
const run = spawnSync(process.execPath, [hardhat, "test", "solidity", "--coverage"], {
  cwd: WORKSPACE,
  encoding: "utf8",
  maxBuffer: 64 * 1024 * 1024,
});
if (run.status !== 0) {
  console.error(run.stdout, run.stderr);
  process.exit(run.status ?? 1);
}

interface Lines {
  run: number;
  missed: number[];
}

const report = new Map<string, Lines>();
let current: Lines | undefined;
for (const line of readFileSync(join(WORKSPACE, "coverage", "lcov.info"), "utf8").split("\n")) {
  if (line.startsWith("SF:")) {
    current = { run: 0, missed: [] };
    report.set(line.slice(3), current);
  } else if (line.startsWith("DA:") && current !== undefined) {
    const [number = 0, count = 0] = line.slice(3).split(",").map(Number);
    if (count > 0) current.run += 1;
    else current.missed.push(number);
  }
}

for (const name of DEPLOYED) {
  const lines = report.get(`contracts/${name}.sol`);
  if (lines === undefined) {
    console.error(`${name}: no line was measured`);
    process.exitCode = 1;
    continue;
  }
  const total = lines.run + lines.missed.length;
  console.log(`${name.padEnd(18)} ${lines.run} of ${total} lines`);
  if (lines.missed.length > 0) {
    console.error(`${name}: not run: ${lines.missed.join(", ")}`);
    process.exitCode = 1;
  }
}
