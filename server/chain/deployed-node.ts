import { createPublicClient, custom, type EIP1193RequestFn, type Hex, type PublicClient } from "viem";
import { purchaseRegistrarAbi, testUsdcAbi } from "../../protocol/abi.generated.ts";
import type { Deployment } from "./deployment.ts";
import { type ComparingClient, requireDeployment } from "./find-difference.ts";
import { absent, HeadReader, type Heads } from "./head-reader.ts";

/** A node with the contracts of a deployment, as they are called on it. */
export interface DeployedNode {
  request: EIP1193RequestFn;
  client: PublicClient;
  reader: Heads;
  deployment: Deployment;
  registrar: { readonly address: Hex; readonly abi: typeof purchaseRegistrarAbi };
  token: { readonly address: Hex; readonly abi: typeof testUsdcAbi };
}

/** Connects to the node that serves a deployment; nothing that it answers is taken for an answer to a later question. */
export function connectDeployed(
  request: EIP1193RequestFn,
  deployment: Deployment,
): DeployedNode & { reader: HeadReader } {
  const client = clientOf(request);
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
}: {
  client: ComparingClient;
  deployment: Deployment;
}): Promise<{ chainId: number; epoch: Hex }> {
  const blockNumber = BigInt(deployment.epochBlock.number);
  const [chainId, epochBlock] = await Promise.all([
    client.getChainId(),
    client.getBlock({ blockNumber }).catch(absent),
  ]);
  if (chainId !== deployment.chainId || epochBlock?.hash !== deployment.epochBlock.hash)
    await requireDeployment(client, deployment);
  return { chainId: deployment.chainId, epoch: deployment.epoch };
}

/** Reads the time that the next block would have, in Unix seconds. */
export async function readNextTime({ client }: DeployedNode): Promise<number> {
  return Number((await client.getBlock({ blockTag: "pending" })).timestamp);
}

/** Reads zero, with which the contracts say that there is none, as null. */
export function unlessZero(hash: Hex): Hex | null {
  return BigInt(hash) === 0n ? null : hash;
}

/** Returns the same node for one request, which asks each question until it is answered, and then no more. */
export function connectOnce(node: DeployedNode, reader: Heads): { node: DeployedNode; forget: () => void } {
  const answers = new Map<string, Promise<unknown>>();
  const ask = async (question: { method: string; params?: unknown }) => {
    // An address is the same in any case of its letters.
    const key = JSON.stringify([question.method, question.params]).toLowerCase();
    const known = answers.get(key);
    if (known !== undefined) return await known;
    const answer: Promise<unknown> = Reflect.apply(node.request, undefined, [question]);
    answers.set(key, answer);
    // A failure may be over when it is asked again.
    answer.catch(() => answers.delete(key));
    return await answer;
  };
  // The type of a request function promises an answer for each method, as the node's own one does.
  const client = clientOf(ask as EIP1193RequestFn);
  return { node: { ...node, client, reader }, forget: () => answers.clear() };
}

function clientOf(request: EIP1193RequestFn): PublicClient {
  return createPublicClient({ transport: custom({ request }, { retryCount: 0 }), cacheTime: 0 });
}
