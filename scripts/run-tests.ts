// Runs vitest, with the arguments that were given, and at the same time the contracts' own tests: compiling those keeps one core busy for half
// a minute. Their output is shown when vitest has ended.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { buffer } from "node:stream/consumers";

const contracts = spawn("hardhat", ["test", "solidity"], { stdio: ["ignore", "pipe", "pipe"] });
const said = Promise.all([buffer(contracts.stdout), buffer(contracts.stderr)]);
const vitest = spawn("vitest", ["run", ...process.argv.slice(2)], { stdio: "inherit" });
const [passed, contractsPassed, output] = await Promise.all([succeeds(vitest), succeeds(contracts), said]);
for (const part of output) process.stdout.write(part);
if (!passed || !contractsPassed) process.exitCode = 1;

async function succeeds(child: ChildProcess): Promise<boolean> {
  const [code] = await once(child, "close");
  return code === 0;
}
