import type { Address, Hex, PublicClient } from "viem";
import { recoverAuthorizationAddress } from "viem/utils";
import { sameAddress } from "../../protocol/values/same-address.ts";
import { ChainUnavailableError } from "./chain-reader.ts";
import { isStateGone } from "./head-reader.ts";

/** A block of a transaction receipt or of a read. */
interface Block {
  number: bigint;
  hash: Hex;
}

/** The number of blocks that are requested at once. */
const pageSize = 128n;

/**
 * Reads the code of an account as it is after a block.
 *
 * A node keeps the state of its latest blocks only. Beyond that the code is the one of now, unless the account has signed a
 * delegation (EIP-7702) in a later block: nothing else changes the code of an account, apart from a node's own test calls.
 *
 * @returns undefined for an account without code, "unknown" when it may have had another one then.
 * @throws ChainUnavailableError when the block has left the chain.
 * @example await codeAt(client, buyer, { number: 17n, hash: receipt.blockHash })
 */
export async function codeAt(
  client: PublicClient,
  address: Address,
  block: Block,
): Promise<Hex | undefined | "unknown"> {
  try {
    return await client.getCode({ address, blockHash: block.hash });
  } catch (error) {
    if (!isStateGone(error)) throw error;
  }
  // Before the blocks: none of them is missed that the code of now may come from.
  const code = await client.getCode({ address });
  return (await delegatesAfter(client, address, block)) ? "unknown" : code;
}

async function delegatesAfter(client: PublicClient, address: Address, block: Block): Promise<boolean> {
  const head = await client.getBlockNumber({ cacheTime: 0 });
  for (let from = block.number; from <= head; from += pageSize) {
    const length = Number(head - from + 1n < pageSize ? head - from + 1n : pageSize);
    const page = await Promise.all(
      Array.from({ length }, async (_, index) =>
        client.getBlock({ blockNumber: from + BigInt(index), includeTransactions: true }),
      ),
    );
    if (from === block.number && page[0]?.hash !== block.hash)
      throw new ChainUnavailableError("The chain reorganized while it was read; ask again.");
    const authorizations = page
      .filter(({ hash }) => hash !== block.hash)
      .flatMap(({ transactions }) => transactions)
      .flatMap(({ authorizationList }) => authorizationList ?? []);
    for (const authorization of authorizations)
      if (sameAddress(await signerOf(authorization), address)) return true;
  }
  return false;
}

/** Anyone may put an authorization into a transaction that its account did not sign: it has no effect. */
async function signerOf(
  authorization: Parameters<typeof recoverAuthorizationAddress>[0]["authorization"],
): Promise<Address | null> {
  return await recoverAuthorizationAddress({ authorization }).catch(() => null);
}
