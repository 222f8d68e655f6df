// Breaks the contracts in one place at a time and asks the Solidity tests whether they notice: every require and
// if-revert switched off, every comparison shifted, every modifier, event and assignment removed, and the bugs of scripts/contract-bugs,
// which are planted by hand. A mutant that no test kills fails the run.
//
// A mutant is compiled alone, with few optimizations, and put into a copy of the artifacts under cache/; the tests deploy from
// artifacts, so nothing else is compiled again. Each of those that are tried at a time has a copy of its own.
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createHardhatRuntimeEnvironment } from "hardhat/hre";
import config from "../hardhat.config.ts";
import {
  bugsOf,
  CARRIERS,
  type ContractMutant,
  compile,
  mutantsOf,
  mutatedSource,
  pathOf,
  ROOT,
} from "./contract-mutants.ts";
import { atOnce, chooseMutants, forkTrier, judgeMutants, tryMutants, type Verdict } from "./try-mutants.ts";

const WORKSPACES = join(ROOT, "cache", "mutation");

const DEPLOYED = ["FundingSource", "PurchaseRegistrar", "TestUSDC"];

// Trying one mutant

function unitTestsOf(workspace: string, source: string): string[] {
  const subject = source === "TestUSDC" ? "TestUSDC" : "PurchaseRegistrar";
  const folder = join(workspace, "contracts", "test", subject);
  return readdirSync(folder)
    .filter((file) => file.endsWith(".t.sol"))
    .map((file) => join(folder, file));
}

type TestRun = { success: boolean; value?: SuiteRun; error?: SuiteRun };
type SuiteRun = { suiteResults: { id: { name: string }; testResults: { name: string; status: string }[] }[] };

async function worker(workspace: string): Promise<void> {
  const hre = await createHardhatRuntimeEnvironment(config, {}, workspace);
  const artifactPath = (name: string) =>
    join(workspace, "artifacts", "contracts", `${name}.sol`, `${name}.json`);
  const tests = hre.tasks.getTask(["test", "solidity"]);

  /** Compiles contracts with one source replaced, or none, and puts them into the artifacts; answers whether they compile. */
  const install = (names: string[], replaced: Record<string, string>): boolean => {
    const selection = { "*": ["evm.bytecode.object", "evm.deployedBytecode.object"] };
    const output = compile(names, replaced, selection);
    if (output.errors?.some(({ severity }) => severity === "error")) return false;
    for (const name of names) {
      const evm = output.contracts?.[pathOf(name)]?.[name]?.evm;
      const artifact = JSON.parse(readFileSync(artifactPath(name), "utf8")) as Record<string, unknown>;
      artifact["bytecode"] = `0x${evm?.bytecode.object}`;
      artifact["deployedBytecode"] = `0x${evm?.deployedBytecode.object}`;
      writeFileSync(artifactPath(name), JSON.stringify(artifact));
    }
    return true;
  };

  const run = async (testFiles: string[], testProfile: string): Promise<string[]> => {
    const result = (await tests.run({ noCompile: true, testFiles, testProfile })) as TestRun;
    const run = result.success ? result.value : result.error;
    const failing = (run?.suiteResults ?? []).flatMap(({ id, testResults }) =>
      testResults.filter(({ status }) => status === "Failure").map(({ name }) => `${id.name} ${name}`),
    );
    return failing.length === 0 && !result.success ? ["the run itself"] : failing;
  };

  const judge = async (mutant: ContractMutant): Promise<Verdict> => {
    const mutated = mutatedSource(mutant);
    const carriers = CARRIERS[mutant.source] ?? [];
    const kept = carriers.map((name) => readFileSync(artifactPath(name), "utf8"));
    if (!install(carriers, { [pathOf(mutant.source)]: mutated }))
      return { outcome: "does not compile", by: null };
    try {
      // The contract's own unit tests find nearly everything and take a second.
      const failing = await run(unitTestsOf(workspace, mutant.source), "mutants");
      const [by = null] = failing.length > 0 ? failing : await run([], "default");
      return { outcome: by === null ? "survived" : "found", by };
    } finally {
      for (const [index, name] of carriers.entries()) writeFileSync(artifactPath(name), kept[index] ?? "");
    }
  };

  if (!install(DEPLOYED, {})) throw new Error("the unbroken contracts do not compile");
  const unbroken = await run([], "default");
  if (unbroken.length > 0) throw new Error(`the unbroken contracts fail: ${unbroken.join(", ")}`);
  judgeMutants(judge);
}

// All of them

/** A copy of the contracts and their artifacts for each worker. */
async function makeWorkspaces(): Promise<string[]> {
  const folders = Array.from({ length: atOnce }, (_, index) => join(WORKSPACES, String(index)));
  const [first = "", ...others] = folders;
  rmSync(WORKSPACES, { recursive: true, force: true });
  mkdirSync(first, { recursive: true });
  cpSync(join(ROOT, "contracts"), join(first, "contracts"), { recursive: true });
  symlinkSync(join(ROOT, "node_modules"), join(first, "node_modules"));
  writeFileSync(join(first, "package.json"), '{ "name": "mutation", "type": "module", "private": true }\n');
  const hre = await createHardhatRuntimeEnvironment(config, {}, first);
  await hre.tasks.getTask("build").run({ quiet: true });
  for (const other of others) cpSync(first, other, { recursive: true });
  return folders;
}

const [, , mode, workspace] = process.argv;
if (mode === "--worker" && workspace !== undefined) await worker(workspace);
else {
  const mutants = Object.keys(CARRIERS).flatMap((source) => [
    ...mutantsOf(source),
    ...bugsOf(source, "all-tests"),
  ]);
  const chosen = chooseMutants(mutants);
  if (chosen !== null) {
    const folders = await makeWorkspaces();
    const script = fileURLToPath(import.meta.url);
    await tryMutants(chosen, async (index) => await forkTrier(script, ["--worker", `${folders[index]}`]));
  }
}
