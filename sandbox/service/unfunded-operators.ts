import { formatEther } from "viem";
import type { ChainNode } from "../chain/start-chain.ts";
import { relayGas } from "./open-relayer.ts";

/**
 * Returns a sentence for each operator that cannot pay for a lifecycle (an offer and the collection of a refund) at the fees of now: none on the
 * sandbox's own chain, and none while the node does not respond.
 */
export async function findUnfundedOperators({
  isOwn,
  client,
  terms,
  deployment,
}: Pick<ChainNode, "isOwn" | "client" | "terms" | "deployment">): Promise<string[]> {
  if (isOwn) return [];
  try {
    const { maxFeePerGas } = await terms.fees();
    const cost = (relayGas.offer + relayGas.collect_refund) * maxFeePerGas;
    const balances = deployment.programs.map(async ({ id, operator: address }) => {
      const ether = await client.getBalance({ address });
      if (ether >= cost) return [];
      const has = `The operator of ${id}, ${address}, has ${formatEther(ether)} ether`;
      return [
        `${has}, and a purchase with its refund may cost ${formatEther(cost)}. Send it test ether: until then, offers and refunds wait.`,
      ];
    });
    return (await Promise.all(balances)).flat();
  } catch {
    return [];
  }
}
