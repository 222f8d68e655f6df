import type { Hex } from "viem";
import { hashId } from "../../protocol/values/id.ts";
import type { ChainFunding } from "../chain/chain-reader.ts";
import type { Services } from "../http/services.ts";
import type { MerchantRecord } from "../store/records.ts";

/** Reads a merchant's funding from the chain, which alone knows whether the enrollment is revoked or has left it in a reorg. */
export async function readFunding(
  merchant: MerchantRecord,
  { chain }: Pick<Services, "chain">,
): Promise<ChainFunding> {
  return await chain.funding({ ...fundingOf(merchant), wallet: merchant.wallet });
}

/** Says where the contract has a merchant's funding. */
export function fundingOf({ program, id }: MerchantRecord): { program: Hex; merchantRef: Hex } {
  return { program: hashId(program), merchantRef: hashId(id) };
}
