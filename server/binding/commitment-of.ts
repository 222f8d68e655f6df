import type { Commitment } from "../../protocol/messages/commitment.ts";
import { type RegistrarDomain, registrarDomain } from "../../protocol/messages/domain.ts";
import type { FundingAuthorization } from "../../protocol/messages/funding-authorization.ts";
import { hashId } from "../../protocol/values/id.ts";
import type { Deployment } from "../chain/deployment.ts";
import { Problem } from "../errors/problem.ts";
import type { CommitmentSigner, Services } from "../http/services.ts";
import type { MerchantRecord, PurchaseRecord } from "../store/records.ts";

/** The EIP-712 domain of a deployment. */
export function domainOf(deployment: Deployment): RegistrarDomain {
  return registrarDomain(deployment.chainId, deployment.registrar.address);
}

/** The commitment of a purchase, as it is signed. */
export function commitmentOf(
  purchase: Omit<PurchaseRecord, "commitment_hash" | "commitment_signature" | "event_id">,
  deployment: Deployment,
): Commitment {
  return {
    program: hashId(purchase.program),
    purchaseRef: hashId(purchase.id),
    merchant: purchase.merchant,
    buyer: purchase.buyer,
    beneficiary: purchase.beneficiary,
    token: deployment.token.address,
    amount: BigInt(purchase.amount),
    termsHash: purchase.terms_hash,
    offerDeadline: BigInt(purchase.offer_deadline),
    payDeadline: BigInt(purchase.pay_deadline),
    claimDeadline: BigInt(purchase.claim_deadline),
    salt: purchase.salt,
  };
}

/** The funding authorization that a merchant was given. */
export function authorizationOf(
  merchant: { id: string; program: string; wallet: MerchantRecord["wallet"] } & {
    funding: Pick<MerchantRecord["funding"], "cap" | "valid_until" | "salt">;
  },
  deployment: Deployment,
): FundingAuthorization {
  return {
    program: hashId(merchant.program),
    merchantRef: hashId(merchant.id),
    wallet: merchant.wallet,
    token: deployment.token.address,
    cap: BigInt(merchant.funding.cap),
    validUntil: BigInt(merchant.funding.valid_until),
    salt: merchant.funding.salt,
  };
}

/** The key that signs a program's commitments and funding authorizations. */
export function commitmentSigner(program: string, services: Services): CommitmentSigner {
  const signer = services.keys.commitmentSigners.get(program);
  if (signer === undefined) throw new Problem("not_found", `There is no program ${program}.`);
  return signer;
}
