import { reachNode, requireUsableNode, termsOn } from "../../sandbox/chain/connection/connect-chain.ts";
import { SandboxError } from "../../sandbox/lib/errors/sandbox-error.ts";
import type { SandboxDescription } from "../../sandbox/options/description.ts";
import type { ActingChain } from "./actors.ts";

/** Opens the node that a service uses, for wallets that act outside of it. @throws SandboxError node_unusable */
export async function openNode(
  rpcUrls: readonly string[],
  { chain, contracts }: SandboxDescription,
): Promise<ActingChain & AsyncDisposable> {
  const node = reachNode(rpcUrls, 0);
  const { client, connection } = node;
  const close = async () => await connection.close();
  try {
    await requireUsableNode(node, chain.chain_id);
    if ((await client.getCode({ address: contracts.registrar })) === undefined)
      throw new SandboxError(
        "node_unusable",
        "The node of the option network.rpcUrls does not have the contracts of the service. Name the node that the service uses.",
      );
  } catch (error) {
    await close();
    throw error;
  }
  return { client, terms: termsOn(client), [Symbol.asyncDispose]: close };
}
