import { createPublicClient, custom, type EIP1193RequestFn, type Hex, type PublicClient } from "viem";
import { purchaseRegistrarAbi, testUsdcAbi } from "../../protocol/abi.generated.ts";
import { ChainMismatchError } from "./chain-reader.ts";
import type { Deployment } from "./deployment.ts";
import { absent, HeadReader } from "./head-reader.ts";

/** A node with the contracts of a deployment, as they are called on it. */
export interface DeployedNode {
  request: EIP1193RequestFn;
  client: PublicClient;
  reader: HeadReader;
  deployment: Deployment;
  registrar: { readonly address: Hex; readonly abi: typeof purchaseRegistrarAbi };
  token: { readonly address: Hex; readonly abi: typeof testUsdcAbi };
}

/** Connects to the node that serves a deployment; nothing that it answers is taken for an answer to a later question. */
export function connectDeployed(request: EIP1193RequestFn, deployment: Deployment): DeployedNode {
  const client = createPublicClient({ transport: custom({ request }, { retryCount: 0 }), cacheTime: 0 });
  return {
    request,
    client,
    reader: new HeadReader(client),
    deployment,
    registrar: { address: deployment.registrar.address, abi: purchaseRegistrarAbi },
    token: { address: deployment.token.address, abi: testUsdcAbi },
  };
}

/**
 * Reads the chain's id and epoch.
 *
 * @throws ChainMismatchError when the node serves another chain than the deployment's.
 */
export async function readDeployedIdentity({
  client,
  deployment,
}: DeployedNode): Promise<{ chainId: number; epoch: Hex }> {
  const blockNumber = BigInt(deployment.epochBlock.number);
  const [chainId, epochBlock] = await Promise.all([
    client.getChainId(),
    client.getBlock({ blockNumber }).catch(absent),
  ]);
  if (chainId !== deployment.chainId || epochBlock?.hash !== deployment.epochBlock.hash)
    throw new ChainMismatchError(
      `The node serves chain ${chainId} with block ${deployment.epochBlock.number} ${epochBlock?.hash ?? "missing"}; expected ` +
        `chain ${deployment.chainId} with ${deployment.epochBlock.hash}.`,
    );
  return { chainId, epoch: deployment.epoch };
}

/** Reads zero, with which the contracts say that there is none, as null. */
export function unlessZero(hash: Hex): Hex | null {
  return BigInt(hash) === 0n ? null : hash;
}
