import { createHash } from "node:crypto";
import { access, constants, mkdir, readdir, rm, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { type Address, encodeDeployData, type Hex, parseAbi } from "viem";
import { packageRoot } from "../../../lib/package-root.ts";
import { readContractArtifact } from "../../contracts.ts";
import { type Artifact, readArtifact } from "../../registrar/artifact.ts";
import type { ProxyKind, Registrar } from "../../registrar/registrar.ts";
import { findGenesis, type Genesis, registrarGeneses } from "../genesis-cache.ts";
import { GenesisError } from "../genesis-error.ts";
import { genesisKey } from "../genesis-key.ts";
import { buildGenesis } from "./build-genesis.ts";
import { type Deployer, deployContracts } from "./deploy-contracts.ts";
import { explainReverted } from "./explain-reverted.ts";
import { requireUsable } from "./require-usable.ts";

/** The gas limit of the creation of a registrar contract, or of its proxy: nearly all that a transaction may have. */
const creationGas = 16_000_000n;

/** The geneses that stay in the cache when another one is built. */
const mostKept = 20;

const proxySources = { uups: "UupsProxy", transparent: "TransparentProxy" } as const;

/** The constructors of the proxies. */
const proxyConstructors = {
  uups: parseAbi(["constructor(address implementation, bytes data)"]),
  transparent: parseAbi(["constructor(address implementation, address owner, bytes data)"]),
};

/**
 * Returns the genesis with a registrar contract in place of the sandbox's own one. It is built once for each contract, and found in the cache
 * after that.
 *
 * @param signal - ends the build early.
 * @throws SandboxError registrar_unusable when the contract does not deploy, or does not answer as a registrar contract must; GenesisError.
 */
export async function loadRegistrarGenesis(registrar: Registrar, signal?: AbortSignal): Promise<Genesis> {
  const proxy = registrar.proxy === null ? null : await readProxy(registrar.proxy.kind);
  const inputs = [await genesisKey(), registrar.digest, proxy?.bytecode ?? null];
  const key = createHash("sha256").update(JSON.stringify(inputs)).digest("hex");
  const cache = await findCache();
  const folder = join(cache, key);
  const cached = await findGenesis(key, folder);
  if (cached !== undefined) return cached;
  await removeOldest(cache);
  const token = await readContractArtifact("TestUSDC");
  await buildGenesis(
    key,
    folder,
    async ({ client }, accounts) => {
      const sendRaw: Parameters<typeof deployContracts>[1] = async (transaction) =>
        await client.sendRawTransactionSync(transaction);
      const deployRegistrar = async (deployer: Deployer) => {
        const address = await create(deployer, registrar, proxy);
        return { registrar: address, fundingSource: await requireUsable(client, address, registrar) };
      };
      return await deployContracts(client, sendRaw, accounts, { token, deployRegistrar }).catch(
        async (error: unknown) => await explainReverted(client, accounts, registrar, error),
      );
    },
    signal,
  );
  const built = await findGenesis(key, folder);
  if (built !== undefined) return built;
  throw new GenesisError("not_built", `The genesis was built but is not in ${folder}. Start again.`);
}

/** Creates the contract, and its proxy, whose constructor calls `initialize`. */
async function create(deployer: Deployer, registrar: Registrar, proxy: Artifact | null): Promise<Address> {
  const { name, creation } = registrar;
  const implementation = await deployer.create(name, creation, creationGas);
  if (registrar.proxy === null || proxy === null) return implementation;
  const { kind, initialize } = registrar.proxy;
  const code = proxyCreation(kind, proxy.bytecode, implementation, deployer.address, initialize);
  return await deployer.create(`the proxy of ${name}`, code, creationGas);
}

function proxyCreation(
  kind: ProxyKind,
  bytecode: Hex,
  implementation: Address,
  owner: Address,
  data: Hex,
): Hex {
  return kind === "uups"
    ? encodeDeployData({ abi: proxyConstructors.uups, bytecode, args: [implementation, data] })
    : encodeDeployData({ abi: proxyConstructors.transparent, bytecode, args: [implementation, owner, data] });
}

async function readProxy(kind: ProxyKind): Promise<Artifact> {
  const source = proxySources[kind];
  return await readArtifact(
    join(packageRoot(), "artifacts", "contracts", "proxies", `${source}.sol`, `${source}.json`),
  );
}

/** Returns the folder of the cache: in the package, or in the user's own cache if the package may not be written. */
async function findCache(): Promise<string> {
  const own = join(packageRoot(), ".genesis", registrarGeneses);
  try {
    await mkdir(own, { recursive: true });
    await access(own, constants.W_OK);
    return own;
  } catch {
    const { XDG_CACHE_HOME: home = join(homedir(), ".cache") } = process.env;
    return join(home, "routing-sandbox", registrarGeneses);
  }
}

/** Makes room for another genesis: each build of a contract under development makes one. */
async function removeOldest(cache: string): Promise<void> {
  const names = (await readdir(cache).catch(() => [])).filter((name) => /^[0-9a-f]{64}$/.test(name));
  const dated = await Promise.all(
    names.map(async (name) => {
      const found = await stat(join(cache, name)).catch(() => null);
      return { name, time: found?.mtimeMs ?? 0 };
    }),
  );
  const oldest = dated.toSorted((a, b) => b.time - a.time).slice(mostKept - 1);
  for (const { name } of oldest) await rm(join(cache, name), { recursive: true, force: true });
}
