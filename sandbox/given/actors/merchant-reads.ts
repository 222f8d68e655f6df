import type { Address } from "viem";
import { hashId } from "../../../protocol/values/id.ts";
import { readFunding } from "../../../server/binding/read-funding.ts";
import type { Services } from "../../../server/http/services.ts";
import { viewMerchant } from "../../../server/merchants/views.ts";
import { merchantSchema } from "../../../server/schemas/merchants.ts";
import { findMerchantId } from "../../../server/store/records/find.ts";
import type { components } from "../../client/api-client.ts";
import { withOwnGlobals } from "../../lib/http/direct/with-own-globals.ts";

type Merchant = components["schemas"]["Merchant"];

/** Reads merchants in the shape in which the API answers them: it has no operation that reads one. */
export interface MerchantReads {
  /** The merchant that a wallet is enrolled as in a program; null when there is none. */
  enrolledBy(program: string, wallet: Address): Promise<Merchant | null>;
  /** The merchant with an id; null when there is none. */
  byId(id: string): Promise<Merchant | null>;
}

/** Opens the reads of merchants. */
export function openMerchantReads(services: Services): MerchantReads {
  const byId = async (id: string) =>
    await services.gate.runShared("a given state", async () => {
      const found = await services.store.get("merchants", id);
      if (found === undefined) return null;
      const funding = await readFunding(found.value, services);
      const view = viewMerchant(found.value, funding, services);
      return withOwnGlobals(() => merchantSchema.parse(view));
    });
  return {
    byId,
    async enrolledBy(program, wallet) {
      const id = await services.gate.runShared("a given state", async () => {
        const merchantRef = await services.chain.enrolledAs({ program: hashId(program), wallet });
        return merchantRef === null ? null : await findMerchantId(services.store, program, merchantRef);
      });
      return id === null ? null : await byId(id);
    },
  };
}
