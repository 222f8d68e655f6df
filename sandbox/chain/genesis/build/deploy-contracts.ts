import {
  type Abi,
  type Address,
  encodeDeployData,
  getAddress,
  type Hex,
  type TransactionReceipt,
} from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { faucetCall, openProgramCall } from "../../../../protocol/call.ts";
import { hashId } from "../../../../protocol/values/id.ts";
import { codeHashAt } from "../../../../server/chain/find-difference.ts";
import type { ChainClient } from "../../client/chain-client.ts";
import type { Accounts, GenesisDeployment } from "../deployment-record.ts";
import { accountDeriver } from "../derive-account.ts";
import {
  chainId,
  initialBalances,
  programBounds,
  programRoles,
  tokenParameters,
  walletIndexes,
  walletNames,
} from "../roles.ts";

/** Per transaction; explicit, so that no estimate has a part in the chain's hashes. */
const gasLimit = 12_000_000n;
/** In wei per gas: twice the base fee of block 0. */
const maxFeePerGas = 2_000_000_000n;

/** Sends the deployer's transactions, one after the other. */
export interface Deployer {
  readonly address: Address;
  /** Sends a transaction, which has to succeed; `what` names it at the beginning of a sentence. */
  send(what: string, data: Hex, to: Address): Promise<void>;
  /**
   * Creates a contract.
   *
   * @param gas - the transaction's gas limit.
   */
  create(name: string, data: Hex, gas?: bigint): Promise<Address>;
}

/** Thrown when a transaction of the deployment reverts. Not a CodedError: `explainReverted` throws a SandboxError for it. */
export class DeploymentRevertedError extends Error {
  /** The call or creation that has reverted, as the beginning of a sentence. */
  readonly what: string;
  readonly data: Hex;
  readonly to: Address | null;

  constructor(what: string, data: Hex, to: Address | null) {
    super(`${what} reverted.`);
    this.what = what;
    this.data = data;
    this.to = to;
  }
}

/** The contracts of a genesis. */
export interface GenesisContracts {
  /** TestUSDC as it is compiled. */
  token: { abi: Abi; bytecode: Hex };
  /** Deploys the registrar contract, with its funding source. */
  deployRegistrar(deployer: Deployer): Promise<{ registrar: Address; fundingSource: Address }>;
}

/** Derives the keys of every account that acts on chain. */
export function deriveAccounts(): Accounts {
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

/** Sends a signed transaction and answers when it is mined. */
type SendRaw = (transaction: { serializedTransaction: Hex }) => Promise<TransactionReceipt>;

/**
 * Deploys and funds everything that a sandbox starts with, in one order: the chain's hashes follow from it.
 *
 * @param sendRaw - sends the deployer's transactions.
 * @throws DeploymentRevertedError
 */
export async function deployContracts(
  client: ChainClient,
  sendRaw: SendRaw,
  accounts: Accounts,
  contracts: GenesisContracts,
): Promise<GenesisDeployment> {
  for (const wallet of walletNames)
    await client.setBalance({ address: accounts.wallets[wallet].address, value: initialBalances.walletWei });
  for (const { operator } of Object.values(accounts.programs))
    await client.setBalance({ address: operator.address, value: initialBalances.operatorWei });

  const deployer = openDeployer(sendRaw, accounts);
  const { name, symbol, decimals } = tokenParameters;
  const admin = deployer.address;
  const args = [name, symbol, admin, admin, admin, admin];
  const token = await deployer.create("TestUSDC", encodeDeployData({ ...contracts.token, args }));
  const { registrar, fundingSource } = await contracts.deployRegistrar(deployer);
  const programs = await openGenesisPrograms(deployer, registrar, accounts);
  for (const wallet of walletNames.filter((one) => one !== "deployer")) {
    const { address } = accounts.wallets[wallet];
    const { data } = faucetCall(token, address, initialBalances.walletUsdc);
    await deployer.send(`The faucet of ${wallet}`, data, token);
  }

  const described = async (address: Address) => {
    const codeHash = await codeHashAt(client, address);
    if (codeHash === undefined) throw new Error(`There is no code at ${address} after its deployment.`);
    return { address, codeHash };
  };
  const { number, hash } = await client.getBlock({ blockTag: "latest" });
  return {
    chainId,
    token: { ...(await described(token)), symbol, decimals },
    registrar: await described(registrar),
    fundingSource: await described(fundingSource),
    programs,
    block: { number: Number(number), hash },
  };
}

function openDeployer(sendRaw: SendRaw, { wallets }: Accounts): Deployer {
  const account = privateKeyToAccount(wallets.deployer.privateKey);
  let nonce = 0;
  const send = async (what: string, data: Hex, to: Address | null, gas = gasLimit) => {
    const fees = { gas, maxFeePerGas, maxPriorityFeePerGas: 0n };
    const common = { type: "eip1559", chainId, nonce, ...fees, data } as const;
    nonce += 1;
    const serializedTransaction = await account.signTransaction(to === null ? common : { ...common, to });
    const receipt = await sendRaw({ serializedTransaction });
    if (receipt.status !== "success") throw new DeploymentRevertedError(what, data, to);
    return receipt;
  };
  return {
    address: account.address,
    async send(what, data, to) {
      await send(what, data, to);
    },
    async create(name, data, gas) {
      const { contractAddress } = await send(`The creation of ${name}`, data, null, gas);
      if (contractAddress === null || contractAddress === undefined)
        throw new Error(`${name} got no address.`);
      return getAddress(contractAddress);
    },
  };
}

async function openGenesisPrograms(
  deployer: Deployer,
  registrar: Address,
  accounts: Accounts,
): Promise<GenesisDeployment["programs"]> {
  const programs: GenesisDeployment["programs"] = [];
  for (const { id, name } of programRoles) {
    const keys = accounts.programs[id];
    if (keys === undefined) throw new Error(`Program ${id} has no keys.`);
    const program = {
      id,
      onchainId: hashId(id),
      name,
      admin: deployer.address,
      operator: keys.operator.address,
      commitmentSigner: keys.commitmentSigner.address,
      bounds: programBounds,
    };
    const { data } = openProgramCall(registrar, program.onchainId, program);
    await deployer.send(`openProgram of ${id} by its admin`, data, registrar);
    programs.push(program);
  }
  return programs;
}
