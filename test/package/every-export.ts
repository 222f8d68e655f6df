import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import { z } from "zod";
import type { Consumer } from "./consumer.ts";

const useOfEveryExport = `import { createSandbox, type Sandbox, SandboxError } from "routing-sandbox";
import { createApiClient, unwrap } from "routing-sandbox/client";
import { purchaseRegistrarAbi, readContractArtifact } from "routing-sandbox/contracts";
import { sandboxMatchers } from "routing-sandbox/matchers";
import { hashCommitment, registrarDomain } from "routing-sandbox/protocol";
import { sandboxTest } from "routing-sandbox/vitest";
import { encodeErrorResult } from "viem";
import type { expect as vitestExpect } from "vitest";

declare const expect: typeof vitestExpect;
export const withSandbox = (): ReturnType<typeof sandboxTest> => sandboxTest({ seed: "typed" });
export const commit: (...given: Parameters<typeof hashCommitment>) => string = hashCommitment;
const refused: boolean = await createSandbox({ confirmations: 0 }).then(() => false, (error) => error instanceof SandboxError && error.code === "option_invalid");
await using sandbox: Sandbox = await createSandbox({ seed: "typed" });
const { chain, contracts, urls } = sandbox.description;
const { now } = unwrap(await createApiClient(urls.api).GET("/v1/routing/capabilities"));
const asserts = async () => await expect("0x").toBeAcceptedAs("refund", { id: "pur_1" });
const matchers: string[] = Object.keys(sandboxMatchers(() => sandbox));
const { claim, decision } = await sandbox.given.purchase({ state: "denied" });
const claimed: string = claim.requested_amount;
const outcome: "approved" | "denied" = decision.outcome;
const { abi, bytecode } = await readContractArtifact("PurchaseRegistrar");
const domain = registrarDomain(chain.chain_id, contracts.registrar);
const error: string = encodeErrorResult({ abi: purchaseRegistrarAbi, errorName: "ProgramNotOpen", args: [\`0x\${"0".repeat(64)}\`] });
// @ts-expect-error there is no such option
export const misspelt = async () => await createSandbox({ sed: "typed" });
console.log(JSON.stringify({ refused, claimed, outcome, now, asserts: typeof asserts, matchers: matchers.length, abi: abi.length, bytecode: bytecode.length, domain, error: error.length }));
`;

/** Compiles a program that uses every export, with the declarations of all packages checked, and runs it in a user's project. */
export async function expectEveryExport(project: Consumer): Promise<void> {
  await writeFile(
    join(project.folder, "tsconfig.json"),
    JSON.stringify({
      compilerOptions: {
        strict: true,
        exactOptionalPropertyTypes: true,
        noUncheckedIndexedAccess: true,
        skipLibCheck: false,
        module: "nodenext",
        moduleResolution: "nodenext",
        target: "es2024",
        lib: ["es2024", "dom", "esnext.disposable"],
        types: ["node"],
        outDir: "compiled",
      },
      include: ["use.ts"],
    }),
  );
  await writeFile(join(project.folder, "use.ts"), useOfEveryExport);
  await project.run("npx", "tsc");
  // Nothing keeps the program alive that is done, and its chain is gone.
  expect(JSON.parse(await project.run("node", "compiled/use.js"))).toMatchObject({
    refused: true,
    claimed: "25000000",
    outcome: "denied",
    now: expect.stringMatching(/^2026-/),
    asserts: "function",
    matchers: 4,
    domain: { chainId: 31_337 },
  });
}

const lock = z.object({ packages: z.record(z.string(), z.object({ version: z.string().optional() })) });

/** The path and version of each viem that is installed in a project. */
export async function viemsOf({ folder }: Consumer): Promise<[string, { version?: string | undefined }][]> {
  const text = await readFile(join(folder, "node_modules", ".package-lock.json"), "utf8");
  const { packages } = lock.parse(JSON.parse(text));
  return Object.entries(packages).filter(([path]) => path.endsWith("node_modules/viem"));
}
