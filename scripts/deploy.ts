/**
 * Deploys the contracts with Hardhat to an Anvil of its own and caches the resulting chain as the genesis of every sandbox; does
 * nothing when the cache is good. Prints the genesis' key.
 */
import {
  type Abi,
  createWalletClient,
  custom,
  encodeDeployData,
  type Hex,
  isAddress,
  isHex,
  publicActions,
} from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { buildGenesis, type Deploy } from "../sandbox/chain/genesis/build/build-genesis.ts";
import { deployContracts } from "../sandbox/chain/genesis/build/deploy-contracts.ts";
import { findGenesis, genesisFolder } from "../sandbox/chain/genesis/genesis-cache.ts";
import { genesisKey } from "../sandbox/chain/genesis/genesis-key.ts";
import { chainId } from "../sandbox/chain/genesis/roles.ts";
import { packageRoot } from "../sandbox/lib/package-root.ts";

/** Deploys and funds everything through Hardhat's connection to the chain. */
const deploy: Deploy = async ({ url, client }, accounts) => {
  const hardhat = await import("hardhat");
  const connection = await hardhat.network.create({ network: "localhost", override: { url, chainId } });
  const wallet = createWalletClient({
    account: privateKeyToAccount(accounts.wallets.deployer.privateKey),
    transport: custom(connection.provider),
    cacheTime: 0,
  }).extend(publicActions);
  const compiled = async (name: string): Promise<{ abi: Abi; bytecode: Hex }> => {
    const { abi, bytecode } = await hardhat.artifacts.readArtifact(name);
    if (!isHex(bytecode))
      throw new Error(`The bytecode of ${name} is not complete; it has unlinked libraries.`);
    return { abi, bytecode };
  };
  const testUsdc = await compiled("TestUSDC");
  const purchaseRegistrar = await compiled("PurchaseRegistrar");
  const deployment = await deployContracts(
    client,
    async (transaction) => await wallet.sendRawTransactionSync(transaction),
    accounts,
    {
      token: testUsdc,
      async deployRegistrar(deployer) {
        const creation = encodeDeployData({ ...purchaseRegistrar, args: [] });
        const registrar = await deployer.create("PurchaseRegistrar", creation);
        const fundingSource = await wallet.readContract({
          address: registrar,
          abi: purchaseRegistrar.abi,
          functionName: "fundingSource",
        });
        if (typeof fundingSource !== "string" || !isAddress(fundingSource))
          throw new Error("The PurchaseRegistrar does not name its funding source.");
        return { registrar, fundingSource };
      },
    },
  );
  await connection.close();
  return deployment;
};

// Hardhat looks for its configuration where it is started.
process.chdir(packageRoot());
const key = await genesisKey();
if ((await findGenesis(key)) === undefined) await buildGenesis(key, genesisFolder(key), deploy);
console.log(key);
