import { messageOf } from "../protocol/coded-error.ts";
import type { Artifact } from "../sandbox/chain/registrar/artifact.ts";
import { type Attack, findFailure } from "./attack.ts";
import { attacksWithPermit, attacks as everyAttack } from "./attacks/all.ts";
import { ContractFixture } from "./fixture/contract-fixture.ts";
import { InstallationError, installRegistrar } from "./install-registrar.ts";
import { type GasUse, runLifecycle } from "./lifecycle.ts";
import { rules } from "./rules/all.ts";
import { findBreach } from "./rules/rule.ts";

const allAttacks = [...everyAttack, ...attacksWithPermit];

/** One thing that was tried on a contract. */
export interface CheckResult {
  suite: string;
  name: string;
  /** Null when it passed, otherwise a sentence. */
  failure: string | null;
  duration_ms: number;
}

/** Gas of one function, as a whole transaction, compared with the sandbox's own registrar contract. */
export interface GasComparison {
  function: string;
  gas: number;
  ours: number;
}

/** The result of checking a registrar contract. */
export interface ContractReport {
  contract: string;
  passed: boolean;
  results: CheckResult[];
  gas: GasComparison[];
}

/** The options of a contract check. */
export interface CheckOptions {
  /** The gas that the sandbox's own registrar contract uses, to compare with; see {@link measureOwnGas}. */
  ownGas?: GasUse;
  /** The attacks that are run; all of them by default. */
  attacks?: readonly Attack[];
  progress?: CheckProgress;
}

/** Called with each result. */
export type CheckProgress = (result: CheckResult, done: number, total: number) => void;

/** Gas of the sandbox's own registrar contract, to compare with. */
export async function measureOwnGas(): Promise<GasUse> {
  const fixture = await ContractFixture.open();
  try {
    return await runLifecycle(fixture);
  } finally {
    await fixture.close();
  }
}

/**
 * Deploys a registrar contract to a fresh sandbox and runs the lifecycle, the contract-level rules and every attack against it.
 *
 * @example (await checkContract(await readArtifact(file), { ownGas: await measureOwnGas() })).passed
 */
export async function checkContract(artifact: Artifact, options: CheckOptions = {}): Promise<ContractReport> {
  const { ownGas = {}, attacks = allAttacks, progress } = options;
  const results: CheckResult[] = [];
  const total = 2 + rules.length + attacks.length;
  const run = async (suite: string, name: string, check: () => Promise<string | null>) => {
    const began = performance.now();
    const failure = await check().catch((error: unknown) => messageOf(error));
    const result = { suite, name, failure, duration_ms: Math.round(performance.now() - began) };
    results.push(result);
    progress?.(result, results.length, total);
  };
  let fixture: ContractFixture | undefined;
  let gas: GasUse = {};
  await run("deployment", "takes the place of the sandbox's own registrar contract", async () => {
    fixture = await ContractFixture.open(async (chain) => await installRegistrar(chain, artifact)).catch(
      explained,
    );
    return null;
  });
  const opened = fixture;
  if (opened !== undefined)
    try {
      await run(
        "lifecycle",
        "enrollment to refund, by both routes, the money right to the unit",
        async () => {
          gas = await runLifecycle(opened);
          return null;
        },
      );
      for (const rule of rules) await run("rules", rule.name, async () => await findBreach(rule, opened));
      for (const attack of attacks)
        await run(`attacks: ${attack.area}`, attack.name, async () => await findFailure(attack, opened));
    } finally {
      await opened.close();
    }
  return {
    contract: artifact.contractName,
    passed: results.every(({ failure }) => failure === null),
    results,
    gas: Object.entries(gas).map(([name, used]) => ({ function: name, gas: used, ours: ownGas[name] ?? 0 })),
  };
}

function explained(error: unknown): never {
  if (error instanceof InstallationError) throw error;
  const reason = messageOf(error);
  throw new Error(`A valid enrollment or offer did not succeed: ${reason}`, { cause: error });
}
