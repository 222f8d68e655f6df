import { type Address, encodeFunctionData, getAddress, type Hex, isAddress } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { purchaseRegistrarAbi } from "../protocol/abi.generated.ts";
import { CodedError, messageOf } from "../protocol/coded-error.ts";
import { describeCause, requireHashes } from "../sandbox/chain/genesis/build/registrar-genesis.ts";
import type { Artifact } from "../sandbox/chain/registrar/artifact.ts";
import type { ChainNode } from "../sandbox/chain/start-chain.ts";
import { Wallet } from "../sandbox/wallets/wallet.ts";
import { codeHashAt } from "../server/chain/find-difference.ts";

/** Thrown when a registrar cannot take the place of the sandbox's own; the message says what it lacks. */
export class InstallationError extends CodedError<"registrar_unusable"> {
  override readonly name = "InstallationError";

  constructor(message: string, options?: ErrorOptions) {
    super("registrar_unusable", message, options);
  }
}

const gas = 16_000_000n;
const fees = { maxFeePerGas: 4_000_000_000n, maxPriorityFeePerGas: 1_000_000_000n };

/**
 * Deploys a registrar contract on a fresh chain and opens the sandbox's programs in it; everything that uses the chain
 * afterwards uses that registrar.
 *
 * @throws InstallationError when it does not deploy, names no funding source or opens no program.
 * @example await ContractFixture.open(async (chain) => await installRegistrar(chain, artifact))
 */
export async function installRegistrar(chain: ChainNode, artifact: Artifact): Promise<ChainNode> {
  const { contractName } = artifact;
  const registrar = await deploy(chain, artifact);
  const fundingSource = await chain.client
    .readContract({ address: registrar, abi: purchaseRegistrarAbi, functionName: "fundingSource" })
    .catch((cause: unknown) => {
      throw new InstallationError(`${contractName} does not return an address from fundingSource().`, {
        cause,
      });
    });
  await requireHashes(chain.client, registrar, contractName).catch(async (cause: unknown) => {
    // An Anvil that gives no response returns no digest either.
    await chain.client.getChainId();
    throw new InstallationError(messageOf(cause), { cause });
  });
  for (const program of chain.deployment.programs) {
    const { onchainId, commitmentSigner, bounds } = program;
    const validUntil = BigInt(bounds.validUntil);
    const data = encodeFunctionData({
      abi: purchaseRegistrarAbi,
      functionName: "openProgram",
      args: [onchainId, program.operator, commitmentSigner, { ...bounds, validUntil }],
    });
    const { status } = await send(chain, registrar, data);
    if (status !== "success")
      throw new InstallationError(`${contractName} refuses openProgram of a new program by its admin.`);
  }
  return {
    ...chain,
    deployment: {
      ...chain.deployment,
      registrar: await pin(chain, registrar, contractName),
      fundingSource: await pin(chain, fundingSource, `the funding source of ${contractName}`),
    },
  };
}

async function deploy(chain: ChainNode, { abi = [], bytecode, contractName }: Artifact): Promise<Address> {
  const { status, contractAddress } = await send(chain, null, bytecode);
  if (status === "success" && contractAddress && isAddress(contractAddress))
    return getAddress(contractAddress);
  const account = chain.accounts.wallets.deployer.address;
  const reason = await chain.client.call({ account, data: bytecode, gas }).then(
    () => "it ran out of gas",
    (cause: unknown) => describeCause(abi, cause),
  );
  throw new InstallationError(
    `${contractName} does not deploy: ${reason}. Its constructor must take no arguments.`,
  );
}

/** The deployer sends; it is the admin of every program. */
async function send(chain: ChainNode, to: Address | null, data: Hex) {
  const account = privateKeyToAccount(chain.accounts.wallets.deployer.privateKey);
  const { client } = chain;
  const nonce = await client.getTransactionCount({ address: account.address, blockTag: "pending" });
  const { chainId } = chain.deployment;
  const serializedTransaction = await account.signTransaction({
    type: "eip1559",
    chainId,
    nonce,
    gas,
    ...fees,
    data,
    ...(to === null ? {} : { to }),
  });
  const hash = await client.sendRawTransaction({ serializedTransaction });
  return await new Wallet(account, client).receipt(hash);
}

async function pin(chain: ChainNode, address: Address, name: string) {
  const codeHash = await codeHashAt(chain.client, address);
  if (codeHash === undefined) throw new InstallationError(`There is no code at ${address}, ${name}.`);
  return { address, codeHash };
}
