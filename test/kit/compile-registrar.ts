import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { ProxyKind, RegistrarOption } from "../../sandbox/chain/registrar/registrar.ts";
import { packageRoot } from "../../sandbox/lib/package-root.ts";
import { compileSources, followImports, readSource } from "../check-contract/broken-registrars.ts";

/**
 * Compiles the second registrar contract of the tests, which is written differently, for a proxy; kept under cache/ by the text of every source.
 *
 * @returns its artifact file.
 */
async function ledgerRegistrar(): Promise<string> {
  const path = "contracts/test/LedgerRegistrar.t.sol";
  const original = await readSource(path);
  const sources: { [path: string]: { content: string } } = { [path]: { content: original } };
  for (const [imported, content] of await followImports(original, path)) sources[imported] = { content };
  const input = JSON.stringify({
    language: "Solidity",
    sources,
    settings: {
      optimizer: { enabled: true, runs: 1 },
      evmVersion: "osaka",
      outputSelection: { [path]: { LedgerRegistrar: ["abi", "evm.bytecode.object"] } },
    },
  });
  const digest = createHash("sha256").update(input).digest("hex").slice(0, 32);
  const folder = join(packageRoot(), "cache", "ledger-registrar", digest);
  if (!existsSync(folder)) await compileSources(input, folder);
  return join(folder, "LedgerRegistrar.json");
}

/** The owner of the second registrar contract: the sandbox's deployer. */
const owner = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266";

/** Returns the option of a sandbox that runs on the second registrar contract, behind a proxy. */
export async function ledgerBehind(proxy: ProxyKind): Promise<RegistrarOption> {
  return { artifact: await ledgerRegistrar(), proxy, initializeArguments: [owner] };
}
