// Breaks our registrar contract in one place at a time and asks check-contract whether it notices. A mutant that check-contract
// passes must be named in check-contract/mutants-allowed.json with the reason why no check from outside could notice; any other survivor
// fails the run. A mutant that compiles to the same code as the contract is the same contract, and is not counted.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Hex } from "viem";
import { z } from "zod";
import { checkContract } from "../check-contract/check-contract.ts";
import { type ReferenceEffects, readReference } from "../check-contract/reference.ts";
import {
  bugsOf,
  type ContractMutant,
  compile,
  mutantsOf,
  mutatedSource,
  pathOf,
  ROOT,
} from "./contract-mutants.ts";
import { chooseMutants, forkTrier, judgeMutants, tryMutants, type Verdict } from "./try-mutants.ts";

const allowedFile = join(ROOT, "check-contract", "mutants-allowed.json");
/** The sources of the registrar contract. */
const sources = ["PurchaseRegistrar", "FundingSource", "CanonicalCalldata", "ExactTransfer"];
const contractName = "PurchaseRegistrar";

if (process.argv[2] === "--worker") {
  const { unbroken, reference } = await readUnbroken();
  judgeMutants(async (mutant: ContractMutant) => await judge(mutant, unbroken, reference));
} else {
  const all = sources.flatMap((source) => [
    ...mutantsOf(source),
    ...bugsOf(source, "all-tests"),
    ...bugsOf(source, "check-contract"),
  ]);
  const chosen = chooseMutants(all);
  if (chosen !== null) {
    const { unbroken, reference } = await readUnbroken();
    const failure = await findFirstFailure(unbroken, reference);
    if (failure !== null) throw new Error(`the unbroken contract fails: ${failure}`);
    const allowed = z.record(z.string(), z.string()).parse(JSON.parse(readFileSync(allowedFile, "utf8")));
    const script = fileURLToPath(import.meta.url);
    await tryMutants(chosen, async () => await forkTrier(script, ["--worker"]), allowed);
  }
}

async function readUnbroken(): Promise<{ unbroken: Hex; reference: ReferenceEffects }> {
  const unbroken = bytecodeOf({});
  if (unbroken === null) throw new Error("the unbroken contract does not compile");
  return { unbroken, reference: await readReference() };
}

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
  if (bytecode === null) return { outcome: "does not compile", by: null };
  if (bytecode === unbroken) return { outcome: "same code", by: null };
  const by = await findFirstFailure(bytecode, reference);
  return { outcome: by === null ? "survived" : "found", by };
}
