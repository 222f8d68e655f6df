// Breaks our registrar contract in one place at a time and asks check-contract whether it notices. A mutant that check-contract
// passes must be named in check-contract/mutants-allowed.json with the reason why no check from outside could notice; any other survivor
// fails the run. A mutant that compiles to the same code as the contract is the same contract, and is not counted.
//
// Two are tried at a time. `--only "one text|another"` runs the mutants whose description contains one of the texts; `--sample 20` runs a few
// from all over the sources, the same each time; `--list` runs none.
import { fork } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import type { Hex } from "viem";
import { z } from "zod";
import { checkContract } from "../check-contract/check-contract.ts";
import { type ReferenceEffects, readReference } from "../check-contract/reference.ts";
import { stateBugs } from "./contract-bugs/all.ts";
import {
  bugsOf,
  type ContractMutant,
  compile,
  mutantsOf,
  mutatedSource,
  pathOf,
  ROOT,
} from "./contract-mutants.ts";

/** The number of mutants that are tried at one time. */
const atOnce = 2;
const allowedFile = join(ROOT, "check-contract", "mutants-allowed.json");
/** The sources of the registrar contract. */
const sources = ["PurchaseRegistrar", "FundingSource", "CanonicalCalldata", "ExactTransfer"];
const contractName = "PurchaseRegistrar";

interface Verdict {
  outcome: "found" | "survived" | "same code" | "does not compile";
  /** The first check that failed, and how. */
  failure: string | null;
}

const { values } = parseArgs({
  options: {
    only: { type: "string" },
    sample: { type: "string" },
    list: { type: "boolean", default: false },
    worker: { type: "boolean", default: false },
  },
});
if (values.worker) await judgeWhatComes();
else await main();

async function main(): Promise<void> {
  const parts = values.only?.split("|") ?? [""];
  const all = sources
    .flatMap((source) => [...mutantsOf(source), ...bugsOf(source), ...bugsOf(source, stateBugs)])
    .filter(({ description }) => parts.some((part) => description.includes(part)));
  const chosen = values.sample === undefined ? all : sampleOf(all, Number(values.sample));
  if (values.list) {
    for (const { description } of chosen) console.log(description);
    console.log(`${chosen.length} mutants`);
    return;
  }
  report(await judgeAll(chosen), { whole: values.only === undefined && values.sample === undefined });
}

/** Returns some of the mutants, at equal distances. */
function sampleOf(all: readonly ContractMutant[], size: number): readonly ContractMutant[] {
  const step = Math.max(1, all.length / size);
  return Array.from(
    { length: Math.min(size, all.length) },
    (_, index) => all[Math.floor(index * step)],
  ).filter((mutant) => mutant !== undefined);
}

// Trying one mutant

/** Returns the deployment code of the contract, with other texts in place of some sources; null when they do not compile. */
function bytecodeOf(replaced: Record<string, string>): Hex | null {
  const output = compile([contractName], replaced, { "*": ["evm.bytecode.object"] });
  if (output.errors?.some(({ severity }) => severity === "error")) return null;
  return `0x${output.contracts?.[pathOf(contractName)]?.[contractName]?.evm.bytecode.object}`;
}

/** Runs check-contract until its first failure. */
async function findFirstFailure(bytecode: Hex, reference: ReferenceEffects): Promise<string | null> {
  const { results } = await checkContract({ contractName, bytecode }, { bail: true, reference });
  const failed = results.find(({ failure }) => failure !== null);
  return failed === undefined ? null : `${failed.suite}: ${failed.name}: ${failed.failure}`;
}

async function judge(mutant: ContractMutant, unbroken: Hex, reference: ReferenceEffects): Promise<Verdict> {
  const bytecode = bytecodeOf({ [pathOf(mutant.source)]: mutatedSource(mutant) });
  if (bytecode === null) return { outcome: "does not compile", failure: null };
  if (bytecode === unbroken) return { outcome: "same code", failure: null };
  const failure = await findFirstFailure(bytecode, reference);
  return { outcome: failure === null ? "survived" : "found", failure };
}

async function judgeWhatComes(): Promise<void> {
  const unbroken = bytecodeOf({});
  if (unbroken === null) throw new Error("the unbroken contract does not compile");
  const reference = await readReference();
  process.on("message", async (mutant: ContractMutant) => {
    process.send?.(await judge(mutant, unbroken, reference));
  });
  process.send?.("ready");
}

// All of them

async function judgeAll(mutants: readonly ContractMutant[]): Promise<Map<ContractMutant, Verdict>> {
  const unbroken = bytecodeOf({});
  const failure =
    unbroken === null ? "it does not compile" : await findFirstFailure(unbroken, await readReference());
  if (failure !== null) throw new Error(`the unbroken contract fails: ${failure}`);
  const waiting = [...mutants];
  const verdicts = new Map<ContractMutant, Verdict>();
  const judgeInTurn = async () => {
    const child = fork(fileURLToPath(import.meta.url), ["--worker"], {
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    });
    await once(child, "message");
    for (let mutant = waiting.shift(); mutant !== undefined; mutant = waiting.shift()) {
      const started = performance.now();
      child.send(mutant);
      const [verdict] = (await once(child, "message")) as [Verdict];
      verdicts.set(mutant, verdict);
      const seconds = ((performance.now() - started) / 1_000).toFixed(1);
      console.log(
        `${verdicts.size}/${mutants.length} ${verdict.outcome} in ${seconds} s: ${mutant.description}`,
      );
      if (verdict.failure !== null) console.log(`    ${verdict.failure.slice(0, 300)}`);
    }
    child.kill();
  };
  await Promise.all(Array.from({ length: atOnce }, judgeInTurn));
  return verdicts;
}

function report(verdicts: ReadonlyMap<ContractMutant, Verdict>, { whole }: { whole: boolean }): void {
  const allowed = existsSync(allowedFile)
    ? z.record(z.string(), z.string()).parse(JSON.parse(readFileSync(allowedFile, "utf8")))
    : {};
  const of = (outcome: Verdict["outcome"]) =>
    [...verdicts].filter(([, verdict]) => verdict.outcome === outcome).map(([mutant]) => mutant);
  const survivors = of("survived");
  const explained = survivors.filter(({ description }) => description in allowed);
  console.log(
    `\n${of("found").length} found, ${survivors.length} survived (${explained.length} explained), ${of("same code").length} are the same code, ${of("does not compile").length} do not compile.`,
  );
  const failures = [
    ...survivors
      .filter(({ description }) => !(description in allowed))
      .map(({ description }) => `SURVIVED: ${description}`),
    ...of("does not compile")
      .filter(({ byHand }) => byHand)
      .map(({ description }) => `does not compile: ${description}`),
    ...(whole ? Object.keys(allowed) : [])
      .filter((name) => !explained.some(({ description }) => description === name))
      .map((name) => `no longer a survivor, remove it from mutants-allowed.json: ${name}`),
  ];
  for (const failure of failures) console.log(`  ${failure}`);
  if (failures.length > 0) process.exitCode = 1;
}
