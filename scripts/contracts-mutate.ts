// Breaks the contracts in one place at a time and asks the Solidity tests whether they notice: every require and
// if-revert switched off, every comparison shifted, every modifier, event and assignment removed. A mutant that no test kills
// must be named in contracts/mutants-allowed.json with the reason why no test could notice; any other survivor fails the run. The bugs of
// scripts/contract-bugs, which are planted by hand, are tried as well.
//
// A mutant is compiled alone, with few optimizations, and put into a copy of the artifacts under cache/; the tests deploy from
// artifacts, so nothing else is compiled again. Two are tried at a time, each in a copy of its own. `--only "one text|another"` runs the
// mutants whose description contains one of the texts; `--list` runs none.
import { fork } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
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

const WORKSPACES = join(ROOT, "cache", "mutation");
/** The number of mutants that are tried at one time. */
const AT_ONCE = 2;
const ALLOWED = join(ROOT, "contracts", "mutants-allowed.json");

const DEPLOYED = ["FundingSource", "PurchaseRegistrar", "TestUSDC"];

interface Verdict {
  outcome: "killed" | "survived" | "invalid";
  tests: string[];
}

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
    if (!install(carriers, { [pathOf(mutant.source)]: mutated })) return { outcome: "invalid", tests: [] };
    try {
      // The contract's own unit tests find nearly everything and take a second.
      const failing = await run(unitTestsOf(workspace, mutant.source), "mutants");
      const tests = failing.length > 0 ? failing : await run([], "default");
      return { outcome: tests.length > 0 ? "killed" : "survived", tests };
    } finally {
      for (const [index, name] of carriers.entries()) writeFileSync(artifactPath(name), kept[index] ?? "");
    }
  };

  if (!install(DEPLOYED, {})) throw new Error("the unbroken contracts do not compile");
  const unbroken = await run([], "default");
  if (unbroken.length > 0) throw new Error(`the unbroken contracts fail: ${unbroken.join(", ")}`);
  process.on("message", async (mutant: ContractMutant) => {
    process.send?.(await judge(mutant));
  });
  process.send?.("ready");
}

// All of them

/** A copy of the contracts and their artifacts for each worker. */
async function makeWorkspaces(): Promise<string[]> {
  const folders = Array.from({ length: AT_ONCE }, (_, index) => join(WORKSPACES, String(index)));
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

/** Starts a worker in its copy; asked for a mutant, it answers with the verdict. */
async function startWorker(workspace: string) {
  const child = fork(fileURLToPath(import.meta.url), ["--worker", workspace], {
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  const answer = () =>
    new Promise<unknown>((resolve, reject) => {
      const gone = () => reject(new Error("the worker ended before its answer"));
      child.once("exit", gone);
      child.once("message", (message) => {
        child.off("exit", gone);
        resolve(message);
      });
    });
  await answer();
  return {
    async judge(mutant: ContractMutant): Promise<Verdict> {
      child.send(mutant);
      return (await answer()) as Verdict;
    },
    end: () => child.kill(),
  };
}

async function judgeAll(mutants: readonly ContractMutant[]): Promise<Map<ContractMutant, Verdict>> {
  const waiting = [...mutants];
  const verdicts = new Map<ContractMutant, Verdict>();
  const judgeInTurn = async (workspace: string) => {
    const { judge, end } = await startWorker(workspace);
    for (let mutant = waiting.shift(); mutant !== undefined; mutant = waiting.shift()) {
      const started = performance.now();
      const verdict = await judge(mutant);
      verdicts.set(mutant, verdict);
      const { outcome, tests } = verdict;
      const more = tests.length > 1 ? ` and ${tests.length - 1} more` : "";
      const by = tests.length > 0 ? ` by ${tests[0]}${more}` : "";
      const seconds = ((performance.now() - started) / 1000).toFixed(1);
      console.log(
        `${verdicts.size}/${mutants.length} ${outcome}${by} in ${seconds} s: ${mutant.description}`,
      );
    }
    end();
  };
  await Promise.all((await makeWorkspaces()).map(judgeInTurn));
  return verdicts;
}

function report(verdicts: ReadonlyMap<ContractMutant, Verdict>, { whole }: { whole: boolean }): void {
  const allowed = existsSync(ALLOWED)
    ? (JSON.parse(readFileSync(ALLOWED, "utf8")) as Record<string, string>)
    : {};
  const counts = { killed: 0, survived: 0, invalid: 0 };
  const failures: string[] = [];
  const explained = new Set<string>();
  for (const [{ description, byHand }, { outcome }] of verdicts) {
    counts[outcome] += 1;
    if (outcome === "survived" && description in allowed) explained.add(description);
    else if (outcome === "survived") failures.push(`SURVIVED:  ${description}`);
    else if (outcome === "invalid" && byHand) failures.push(`does not compile: ${description}`);
  }
  console.log(
    `\n${counts.killed} killed, ${counts.survived} survived (${explained.size} explained), ${counts.invalid} do not compile.`,
  );
  for (const description of explained)
    console.log(`  explained: ${description}\n    ${allowed[description]}`);
  const outdated = whole ? Object.keys(allowed).filter((description) => !explained.has(description)) : [];
  for (const description of outdated)
    failures.push(`no longer a survivor, remove from mutants-allowed.json: ${description}`);
  for (const failure of failures) console.log(`  ${failure}`);
  if (failures.length > 0) process.exitCode = 1;
}

async function main(): Promise<void> {
  const only = process.argv.includes("--only") ? process.argv[process.argv.indexOf("--only") + 1] : undefined;
  const parts = only?.split("|") ?? [""];
  const mutants = Object.keys(CARRIERS)
    .flatMap((source) => [...mutantsOf(source), ...bugsOf(source)])
    .filter(({ description }) => parts.some((part) => description.includes(part)));
  if (process.argv.includes("--list")) {
    for (const { description } of mutants) console.log(description);
    console.log(`${mutants.length} mutants`);
    return;
  }
  report(await judgeAll(mutants), { whole: only === undefined });
}

const [, , mode, workspace] = process.argv;
await (mode === "--worker" && workspace !== undefined ? worker(workspace) : main());
