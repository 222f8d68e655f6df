import type { Address, ContractFunctionReturnType, Hex } from "viem";
import type { purchaseRegistrarAbi } from "../../protocol/abi.generated.ts";
import { sameAddress } from "../../protocol/values/same-address.ts";
import type { BlockPoint, ChainCover, ChainFunding } from "./chain-reader.ts";
import { type DeployedNode, unlessZero } from "./deployed-node.ts";

/** Reads the funding of a merchant at the newest block. */
export async function readChainFunding(
  { program, merchantRef, wallet }: { program: Hex; merchantRef: Hex; wallet: Address },
  { client, reader, deployment, registrar, token }: DeployedNode,
): Promise<ChainFunding> {
  const spender = deployment.fundingSource.address;
  return await reader.atOneHead(async (asOf) => {
    const at = { blockHash: asOf.hash } as const;
    const [state, allowance, balance] = await Promise.all([
      client.readContract({ ...registrar, functionName: "funding", args: [program, merchantRef], ...at }),
      client.readContract({ ...token, functionName: "allowance", args: [wallet, spender], ...at }),
      client.readContract({ ...token, functionName: "balanceOf", args: [wallet], ...at }),
    ]);
    // The contract's answer has the wallet's figures only where something is enrolled.
    return { ...toFunding(state, asOf), allowance, balance };
  });
}

/** Adds up what remains under the other active fundings of a wallet: all programs share its allowance to the funding source. */
export async function readOtherFundings(
  query: { program: Hex; merchantRef: Hex; wallet: Address; at: BlockPoint; time: number },
  { client, deployment, registrar }: DeployedNode,
): Promise<bigint> {
  const { program, merchantRef, wallet, at, time } = query;
  const enrollments = await client.getContractEvents({
    ...registrar,
    eventName: "FundingEnrolled",
    args: { wallet },
    fromBlock: 0n,
    toBlock: BigInt(at.number),
    strict: true,
  });
  const others = enrollments.filter(
    ({ args }) => args.program !== program || args.merchantRef !== merchantRef,
  );
  const states = await Promise.all(
    others.map(
      async ({ args }) =>
        await client.readContract({
          ...registrar,
          functionName: "funding",
          args: [args.program, args.merchantRef],
          blockHash: at.hash,
        }),
    ),
  );
  return states
    .filter(
      ({ token, revokedAt, validUntil }) =>
        sameAddress(token, deployment.token.address) && revokedAt === 0n && validUntil >= time,
    )
    .reduce((sum, { cap, collected }) => sum + cap - collected, 0n);
}

/** Reads the funding that covers a purchase at the newest block; null while the purchase is not on chain. */
export async function readCover(
  id: Hex,
  { client, reader, registrar }: DeployedNode,
): Promise<ChainCover | null> {
  return await reader.atOneHead(async (asOf) => {
    const at = { blockHash: asOf.hash } as const;
    const read = { ...registrar, functionName: "purchase", args: [id], ...at } as const;
    const { status, program, merchantRef } = await client.readContract(read);
    if (status === 0) return null;
    const args = [program, merchantRef] as const;
    const state = await client.readContract({ ...registrar, functionName: "funding", args, ...at });
    return { ...toFunding(state, asOf), merchantRef, cap: state.cap };
  });
}

/** Reads a merchant's funding at a block as the contract has it: without the wallet's figures where nothing is enrolled. */
export async function readEnrolled(
  args: readonly [program: Hex, merchantRef: Hex],
  asOf: BlockPoint,
  { client, registrar }: DeployedNode,
): Promise<ChainFunding> {
  const read = { ...registrar, functionName: "funding", args, blockHash: asOf.hash } as const;
  return toFunding(await client.readContract(read), asOf);
}

function toFunding(
  state: ContractFunctionReturnType<typeof purchaseRegistrarAbi, "view", "funding">,
  asOf: BlockPoint,
): ChainFunding {
  const { collected, allowance, balance } = state;
  return {
    asOf,
    authorization: unlessZero(state.authorization),
    collected,
    validUntil: Number(state.validUntil),
    revokedAt: state.revokedAt === 0n ? null : Number(state.revokedAt),
    allowance,
    balance,
  };
}
