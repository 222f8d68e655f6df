/**
 * Deploys the contracts with Hardhat to an Anvil of its own and caches the resulting chain as the genesis of every sandbox; does
 * nothing when the cache is good. Prints the genesis' key.
 */
import { randomUUID } from "node:crypto";
import { mkdir, readdir, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import {
  type Abi,
  type Address,
  createWalletClient,
  custom,
  encodeDeployData,
  getAddress,
  type Hex,
  isAddress,
  isHex,
  publicActions,
} from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { z } from "zod";
import { faucetCall, openProgramCall } from "../protocol/call.ts";
import { hashId } from "../protocol/values/id.ts";
import { startAnvil } from "../sandbox/chain/anvil/start-anvil.ts";
import { createChainClient } from "../sandbox/chain/client/chain-client.ts";
import { dumpChain } from "../sandbox/chain/client/dump-chain.ts";
import { createClock } from "../sandbox/chain/clock/clock.ts";
import type { Accounts, GenesisDeployment } from "../sandbox/chain/genesis/deployment.ts";
import { accountDeriver } from "../sandbox/chain/genesis/derive-account.ts";
import {
  findGenesis,
  genesisDescription,
  genesisFolder,
  stateDigest,
} from "../sandbox/chain/genesis/genesis-cache.ts";
import { genesisKey } from "../sandbox/chain/genesis/genesis-key.ts";
import {
  chainId,
  genesisTimestamp,
  initialBalances,
  programBounds,
  programRoles,
  tokenParameters,
  walletIndexes,
  walletNames,
} from "../sandbox/chain/genesis/roles.ts";
import { codeHashAt } from "../sandbox/chain/genesis/verify-deployment.ts";
import { packageRoot } from "../sandbox/lib/package-root.ts";
import { isRunning } from "../sandbox/lib/processes/processes.ts";

/** Per transaction; explicit, so that no estimate has a part in the chain's hashes. */
const GAS_LIMIT = 12_000_000n;
/** In wei per gas: twice the base fee of block 0. */
const MAX_FEE = 2_000_000_000n;
/** The prefix of the folder of a genesis that is being built; its builder's process id follows. */
const PART_PREFIX = ".part-";

/** Derives the keys of every account that acts on chain. */
function deriveAccounts(): Accounts {
  const accountAt = accountDeriver();
  return {
    wallets: {
      deployer: accountAt(walletIndexes.deployer),
      merchant: accountAt(walletIndexes.merchant),
      buyer: accountAt(walletIndexes.buyer),
      beneficiary: accountAt(walletIndexes.beneficiary),
      stranger: accountAt(walletIndexes.stranger),
      other_merchant: accountAt(walletIndexes.other_merchant),
      other_buyer: accountAt(walletIndexes.other_buyer),
    },
    programs: Object.fromEntries(
      programRoles.map(({ id, commitmentSignerIndex, operatorIndex }) => [
        id,
        { commitmentSigner: accountAt(commitmentSignerIndex), operator: accountAt(operatorIndex) },
      ]),
    ),
  };
}

/** Deploys and funds everything through Hardhat's connection to the chain at `url`. */
// Long: the order of all transactions, of which the chain's hashes follow, is in one place.
async function deploy(url: string, accounts: Accounts): Promise<GenesisDeployment> {
  const hardhat = await import("hardhat");
  const connection = await hardhat.network.create({ network: "localhost", override: { url, chainId } });
  const deployer = privateKeyToAccount(accounts.wallets.deployer.privateKey);
  const wallet = createWalletClient({
    account: deployer,
    transport: custom(connection.provider),
    cacheTime: 0,
  }).extend(publicActions);
  const chain = createChainClient(url);

  for (const name of walletNames) {
    await chain.setBalance({ address: accounts.wallets[name].address, value: initialBalances.walletWei });
  }
  for (const { operator } of Object.values(accounts.programs)) {
    await chain.setBalance({ address: operator.address, value: initialBalances.operatorWei });
  }

  let nonce = 0;
  const send = async (data: Hex, to?: Address) => {
    const transaction = {
      type: "eip1559",
      chainId,
      nonce,
      gas: GAS_LIMIT,
      maxFeePerGas: MAX_FEE,
      maxPriorityFeePerGas: 0n,
      data,
      ...(to === undefined ? {} : { to }),
    } as const;
    nonce += 1;
    const serializedTransaction = await deployer.signTransaction(transaction);
    const receipt = await wallet.sendRawTransactionSync({ serializedTransaction });
    if (receipt.status !== "success") throw new Error(`Deployment transaction ${nonce - 1} was reverted.`);
    return receipt;
  };
  const deployed = async (name: string, data: Hex) => {
    const { contractAddress } = await send(data);
    if (contractAddress === null || contractAddress === undefined) throw new Error(`${name} got no address.`);
    return getAddress(contractAddress);
  };
  const compiled = async (name: string): Promise<{ abi: Abi; bytecode: Hex }> => {
    const { abi, bytecode } = await hardhat.artifacts.readArtifact(name);
    if (!isHex(bytecode))
      throw new Error(`The bytecode of ${name} is not complete; it has unlinked libraries.`);
    return { abi, bytecode };
  };
  const described = async (address: Address) => {
    const codeHash = await codeHashAt(chain, address);
    if (codeHash === undefined) throw new Error(`There is no code at ${address} after its deployment.`);
    return { address, codeHash };
  };

  const { name, symbol, decimals } = tokenParameters;
  const admin = deployer.address;
  const testUsdc = await compiled("TestUSDC");
  const purchaseRegistrar = await compiled("PurchaseRegistrar");
  const token = await deployed(
    "TestUSDC",
    encodeDeployData({ ...testUsdc, args: [name, symbol, admin, admin, admin, admin] }),
  );
  const registrar = await deployed("PurchaseRegistrar", encodeDeployData({ ...purchaseRegistrar, args: [] }));
  const fundingSource = await wallet.readContract({
    address: registrar,
    abi: purchaseRegistrar.abi,
    functionName: "fundingSource",
  });
  if (typeof fundingSource !== "string" || !isAddress(fundingSource)) {
    throw new Error("The PurchaseRegistrar does not name its funding source.");
  }

  const programs: GenesisDeployment["programs"] = [];
  for (const role of programRoles) {
    const keys = accounts.programs[role.id];
    if (keys === undefined) throw new Error(`Program ${role.id} has no keys.`);
    const program = {
      id: role.id,
      onchainId: hashId(role.id),
      name: role.name,
      admin,
      operator: keys.operator.address,
      commitmentSigner: keys.commitmentSigner.address,
      bounds: programBounds,
    };
    await send(openProgramCall(registrar, program.onchainId, program).data, registrar);
    programs.push(program);
  }
  for (const name of walletNames.filter((wallet) => wallet !== "deployer")) {
    const args = [accounts.wallets[name].address, initialBalances.walletUsdc] as const;
    await send(faucetCall(token, ...args).data, token);
  }

  const { number, hash } = await chain.getBlock({ blockTag: "latest" });
  const deployment = {
    chainId,
    token: { ...(await described(token)), symbol, decimals },
    registrar: await described(registrar),
    fundingSource: await described(fundingSource),
    programs,
    block: { number: Number(number), hash },
  };
  await connection.close();
  return deployment;
}

/** Builds the genesis in a folder of its own and moves it into place whole. */
async function build(key: string): Promise<void> {
  const target = genesisFolder(key);
  const part = join(dirname(target), `${PART_PREFIX}${process.pid}-${randomUUID()}`);
  await mkdir(part, { recursive: true });
  try {
    const stateFile = join(part, "state.json");
    const accounts = deriveAccounts();
    const anvil = await startAnvil({ chainId, genesisTimestamp });
    let deployment: GenesisDeployment;
    try {
      const client = createChainClient(anvil.url);
      await createClock(client, "deterministic");
      deployment = await deploy(anvil.url, accounts);
      await writeFile(stateFile, await dumpChain(client, true));
    } finally {
      await anvil.stop();
    }
    const description = { key, stateDigest: await stateDigest(stateFile), deployment, accounts };
    await writeFile(
      join(part, "genesis.json"),
      JSON.stringify(z.encode(genesisDescription, description), null, 2),
    );
    await moveIntoPlace(part, target, key);
  } finally {
    await rm(part, { recursive: true, force: true });
  }
}

// Builders of one key may run at once: each builds the same chain, and the first one whose folder is in place has won.
async function moveIntoPlace(part: string, target: string, key: string): Promise<void> {
  while (!(await tryRename(part, target)) && (await findGenesis(key)) === undefined) {
    // The genesis in place is broken.
    const broken = `${part}-broken`;
    await rename(target, broken).catch(ignoring("ENOENT"));
    await rm(broken, { recursive: true, force: true });
  }
}

async function tryRename(from: string, to: string): Promise<boolean> {
  return await rename(from, to).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      ignoring("ENOTEMPTY", "EEXIST")(error);
      return false;
    },
  );
}

function ignoring(...codes: readonly string[]) {
  return (error: NodeJS.ErrnoException) => {
    if (!codes.includes(error.code ?? "")) throw error;
  };
}

async function removeAbandonedParts(folder: string): Promise<void> {
  for (const name of await readdir(folder).catch(() => [])) {
    const pid = Number(new RegExp(`^${PART_PREFIX.replace(".", "\\.")}(\\d+)-`).exec(name)?.[1]);
    if (Number.isInteger(pid) && !isRunning({ pid, started: null }))
      await rm(join(folder, name), { recursive: true, force: true });
  }
}

// Hardhat looks for its configuration where it is started.
process.chdir(packageRoot());
const key = await genesisKey();
if ((await findGenesis(key)) === undefined) {
  await removeAbandonedParts(dirname(genesisFolder(key)));
  await build(key);
}
console.log(key);
