import { enrollCall } from "../../protocol/call.ts";
import { enrollmentMessage } from "../../protocol/messages/enrollment.ts";
import { fundingAuthorizationTypedData } from "../../protocol/messages/funding-authorization.ts";
import { toTimestamp } from "../../protocol/values/time.ts";
import { authorizationOf, domainOf } from "../binding/commitment-of.ts";
import type { ChainFunding } from "../chain/chain-reader.ts";
import { copyFields } from "../http/answers/copy-fields.ts";
import type { Services } from "../http/services.ts";
import { type Merchant, merchantSchema } from "../schemas/merchants.ts";
import type { MerchantRecord } from "../store/records.ts";
import { viewTransactionRequest, viewTypedData } from "../transactions/views.ts";
import { remainingOf } from "./funding.ts";

/** The text that a merchant's wallet signs to enroll. */
export function enrollmentMessageOf(
  merchant: MerchantRecord,
  services: Pick<Services, "deployment">,
): string {
  const { deployment } = services;
  return enrollmentMessage({
    program: merchant.program,
    merchant: merchant.id,
    wallet: merchant.wallet,
    chainId: deployment.chainId,
    registrar: deployment.registrar.address,
    authorization: merchant.funding.hash,
  });
}

/** A merchant as it is answered, with its funding as the chain holds it. */
export function viewMerchant(
  merchant: MerchantRecord,
  funding: ChainFunding,
  services: Pick<Services, "deployment" | "settings">,
): Merchant {
  const { deployment, settings } = services;
  const authorization = authorizationOf(merchant, deployment);
  const typedData = fundingAuthorizationTypedData(domainOf(deployment), authorization);
  const call = enrollCall(deployment.registrar.address, authorization, merchant.funding.signature);
  const { enrollment } = merchant;
  const { collected } = funding;
  const cap = BigInt(merchant.funding.cap);
  return {
    ...copyFields(merchantSchema, merchant),
    funding_authorization: {
      typed_data: viewTypedData(typedData),
      hash: merchant.funding.hash,
      signature: merchant.funding.signature,
    },
    enrollment: {
      message: enrollmentMessageOf(merchant, services),
      transaction: viewTransactionRequest(call, merchant.wallet, deployment),
      confirmed: enrollment && {
        ...enrollment,
        confirmed_at: toTimestamp(enrollment.confirmed_at),
      },
    },
    funding: {
      cap: merchant.funding.cap,
      collected: collected.toString(),
      remaining: remainingOf({ cap, collected }).toString(),
      valid_until: merchant.funding.valid_until,
      allowance: funding.allowance.toString(),
      balance: funding.balance.toString(),
    },
    wallet_url: `${settings.urls.api}/wallet/${merchant.program}/merchant/${merchant.id}`,
    created_at: toTimestamp(merchant.created_at),
  };
}
