import { createHash } from "node:crypto";
import { access, constants, mkdir, readdir, rm, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import {
  type Address,
  BaseError,
  decodeErrorResult,
  encodeDeployData,
  type Hex,
  isHex,
  parseAbi,
  zeroHash,
} from "viem";
import { fundingSourceAbi, purchaseRegistrarAbi } from "../../../../protocol/abi.generated.ts";
import { hashClaim } from "../../../../protocol/messages/claim.ts";
import { hashCommitment } from "../../../../protocol/messages/commitment.ts";
import { registrarDomain } from "../../../../protocol/messages/domain.ts";
import { hashFundingAuthorization } from "../../../../protocol/messages/funding-authorization.ts";
import { sameAddress } from "../../../../protocol/values/same-address.ts";
import { SandboxError } from "../../../lib/errors/sandbox-error.ts";
import { shortenArgument } from "../../../lib/errors/show-value.ts";
import { packageRoot } from "../../../lib/package-root.ts";
import type { ChainClient } from "../../client/chain-client.ts";
import { readContractArtifact } from "../../contracts.ts";
import { type Artifact, readArtifact } from "../../registrar/artifact.ts";
import type { ProxyKind, Registrar } from "../../registrar/registrar.ts";
import type { Accounts } from "../deployment-record.ts";
import { findGenesis, type Genesis, registrarGeneses } from "../genesis-cache.ts";
import { GenesisError } from "../genesis-error.ts";
import { genesisKey } from "../genesis-key.ts";
import { chainId } from "../roles.ts";
import { buildGenesis } from "./build-genesis.ts";
import { type Deployer, DeploymentRevertedError, deployContracts } from "./deploy-contracts.ts";

/**
 * Checks that a deployed registrar contract has a funding source of its own, and hashes what wallets sign as the API does.
 *
 * @returns the funding source.
 * @throws SandboxError registrar_unusable
 */
async function requireUsable(
  client: ChainClient,
  registrar: Address,
  { name, proxy }: Registrar,
): Promise<Address> {
  const where = proxy === null ? "in the constructor" : "in initialize, which the proxy calls";
  const contract = { address: registrar, abi: purchaseRegistrarAbi } as const;
  const fundingSource = await client
    .readContract({ ...contract, functionName: "fundingSource" })
    .catch(() => null);
  if (fundingSource === null || (await client.getCode({ address: fundingSource })) === undefined)
    throw unusable(
      `${name} does not return the address of a contract from fundingSource(). Deploy a FundingSource ${where}.`,
    );
  const bound = await client
    .readContract({ address: fundingSource, abi: fundingSourceAbi, functionName: "registrar" })
    .catch(() => null);
  if (!sameAddress(bound, registrar))
    throw unusable(
      `The funding source of ${name} lets ${bound ?? "no registrar contract"} draw, not ${registrar}, the address that is called. Deploy it ${where}.`,
    );
  await requireHashes(client, registrar, name);
  return fundingSource;
}

/** Every field differs, so that exchanged fields give another hash, and has no zero byte, so that a shortened field does too. */
const bytes = (value: number, length: number): Hex =>
  `0x${value.toString(16).padStart(2, "0").repeat(length)}`;
const word = (value: number): Hex => bytes(value, 32);
const account = (value: number): Address => bytes(value, 20);
const uint256 = (value: number): bigint => BigInt(word(value));
const uint64 = (value: number): bigint => BigInt(bytes(value, 8));

const commitment = {
  program: word(1),
  purchaseRef: word(2),
  merchant: account(3),
  buyer: account(4),
  beneficiary: account(5),
  token: account(6),
  amount: uint256(7),
  termsHash: word(8),
  offerDeadline: uint64(9),
  payDeadline: uint64(10),
  claimDeadline: uint64(11),
  salt: word(12),
};
const authorization = {
  program: word(1),
  merchantRef: word(2),
  wallet: account(3),
  token: account(4),
  cap: uint256(5),
  validUntil: uint64(6),
  salt: word(7),
};
const claim = {
  commitment: word(1),
  beneficiary: account(2),
  requestedAmount: uint256(3),
  reasonHash: word(4),
};

/**
 * Checks that a deployed registrar contract hashes what wallets sign as the API does.
 *
 * @throws SandboxError registrar_unusable
 */
export async function requireHashes(client: ChainClient, address: Address, name: string): Promise<void> {
  const domain = registrarDomain(chainId, address);
  const contract = { address, abi: purchaseRegistrarAbi } as const;
  const read = async (hash: Promise<Hex>) => await hash.catch(() => zeroHash);
  const hashes: [call: string, actual: Hex, expected: Hex][] = [
    [
      "hashPurchase",
      await read(client.readContract({ ...contract, functionName: "hashPurchase", args: [commitment] })),
      hashCommitment(domain, commitment),
    ],
    [
      "hashFunding",
      await read(client.readContract({ ...contract, functionName: "hashFunding", args: [authorization] })),
      hashFundingAuthorization(domain, authorization),
    ],
    [
      "hashClaim",
      await read(client.readContract({ ...contract, functionName: "hashClaim", args: [claim] })),
      hashClaim(domain, claim),
    ],
  ];
  const wrong = hashes.filter(([, actual, expected]) => actual !== expected).map(([call]) => call);
  if (wrong.length === 0) return;
  throw unusable(
    `${name} returns other EIP-712 digests than the API from ${wrong.join(", ")}. Its domain must be name "${domain.name}", version "${domain.version}", the chain id and ${address}, and its types those of contracts/interfaces/IPurchaseRegistrar.sol.`,
  );
}

function unusable(message: string): SandboxError {
  return new SandboxError("registrar_unusable", message);
}

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

/**
 * Explains why a transaction of a deployment has reverted, by the errors of the registrar contract.
 *
 * @throws SandboxError registrar_unusable for a reverted transaction; any other error as it is.
 */
async function explainReverted(
  client: ChainClient,
  { wallets }: Accounts,
  { name, abi }: Registrar,
  error: unknown,
): Promise<never> {
  if (!(error instanceof DeploymentRevertedError)) throw error;
  const { what, data, to } = error;
  const call = { account: wallets.deployer.address, data, ...(to === null ? {} : { to }) };
  const reason = await client.call(call).then(
    () => "it ran out of gas",
    (cause: unknown) => describeCause(abi, cause),
  );
  throw new SandboxError(
    "registrar_unusable",
    `${what} reverted: ${reason}. Correct ${name}, and compile again.`,
    {
      cause: error,
    },
  );
}

/**
 * Returns why a node refuses a creation: the error of the contract with its arguments, or the node's message.
 *
 * @example describeCause(abi, error) // "EnforcedPause()"
 */
export function describeCause(abi: Registrar["abi"], cause: unknown): string {
  const data = cause instanceof BaseError ? dataOf(cause) : undefined;
  const message = cause instanceof BaseError ? cause.details || cause.shortMessage : String(cause);
  if (message.includes("CreateContractSizeLimit"))
    return "its code has more than the 24,576 bytes of EIP-170, so compile it with the optimizer";
  if (data === undefined || data === "0x") return message.replace(/\.$/, "");
  try {
    const { errorName, args = [] } = decodeErrorResult({ abi, data });
    return `${errorName}(${args.map(shortenArgument).join(", ")})`;
  } catch {
    return `an unknown error with the data ${shortenArgument(data)}`;
  }
}

function dataOf(error: BaseError): Hex | undefined {
  const found = error.walk(
    (cause) => typeof cause === "object" && cause !== null && "data" in cause && isHex(cause.data),
  );
  return found !== null && "data" in found && isHex(found.data) ? found.data : undefined;
}
