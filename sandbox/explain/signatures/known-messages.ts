import type { Address, Hex } from "viem";
import { claimTypedData } from "../../../protocol/messages/claim.ts";
import { commitmentTypedData } from "../../../protocol/messages/commitment.ts";
import { fundingAuthorizationTypedData } from "../../../protocol/messages/funding-authorization.ts";
import { permitTypedData } from "../../../protocol/messages/permit.ts";
import type { Json } from "../../../protocol/values/json.ts";
import { permitDomainOf, permitOf } from "../../../server/payments/permits.ts";
import { authorizationOf, commitmentOf, domainOf } from "../../../server/purchases/commitment-of.ts";
import { claimOf } from "../../../server/refunds/claims.ts";
import type { Services } from "../../../server/services.ts";
import type { MerchantRecord, PurchaseRecord } from "../../../server/store/records.ts";
import { viewTypedData } from "../../../server/transactions/views.ts";
import type { GivenTypedData } from "./typed-data.ts";

/** The messages that a step takes, by their primary type. */
export const knownTypes = ["Purchase", "FundingAuthorization", "Claim", "Permit"] as const;

/** The primary type of a message that a step takes. */
export type KnownType = (typeof knownTypes)[number];

/** A message that the sandbox knows, and who has to sign it. */
export interface KnownMessage {
  type: KnownType;
  /** The purchase or the merchant that it is about. */
  subject: PurchaseRecord | MerchantRecord;
  /** The message in words, such as `the claim of pur_…`. */
  about: string;
  typedData: GivenTypedData;
  signer: Address;
  /** The signer in words, such as `the beneficiary of pur_…`. */
  signedBy: string;
}

/** A message that the given one could be, as far as it is known without the given one. */
export interface PossibleMessage {
  id: string;
  /** The members that are fixed. A claim and a permit leave others open. */
  fixed: { [name: string]: Json };
  /** Completes the message with the open members of the given one. */
  complete: (given: GivenTypedData["message"]) => Promise<KnownMessage>;
}

/** Returns the messages of a type that the sandbox knows, in the order in which their purchases or merchants were created. */
export async function possibleMessages(type: KnownType, services: Services): Promise<PossibleMessage[]> {
  const { store, deployment } = services;
  const possible: PossibleMessage[] = [];
  for (const { id: program } of deployment.programs) {
    if (type === "FundingAuthorization")
      for (const { value } of await store.list("merchants", { program }))
        possible.push(possibleAuthorization(value, services));
    else
      for (const { value } of await store.list("purchases", { program }))
        possible.push(ofPurchase[type](value, services));
  }
  return possible;
}

const ofPurchase: {
  readonly [T in Exclude<KnownType, "FundingAuthorization">]: (
    purchase: PurchaseRecord,
    services: Services,
  ) => PossibleMessage;
} = {
  Purchase(purchase, { deployment }) {
    const typedData = viewTypedData(
      commitmentTypedData(domainOf(deployment), commitmentOf(purchase, deployment)),
    );
    const message: KnownMessage = {
      type: "Purchase",
      subject: purchase,
      about: `the commitment of ${purchase.id}`,
      typedData,
      ...programSigner(purchase, deployment),
    };
    return { id: purchase.id, fixed: typedData.message, complete: async () => message };
  },
  Claim(purchase, services) {
    const { id, commitment_hash: commitment, beneficiary } = purchase;
    const claim = claimOf(purchase, { amount: 0n, reason: "" });
    const known = viewTypedData(claimTypedData(domainOf(services.deployment), claim));
    return {
      id,
      fixed: { commitment, beneficiary },
      complete: async ({ requestedAmount = null, reasonHash = null }) => {
        const filed = await filedClaim(purchase, services);
        const message = { ...known.message, ...(filed ?? { requestedAmount, reasonHash }) };
        return {
          type: "Claim",
          subject: purchase,
          about: `the claim of ${id}`,
          typedData: { ...known, message },
          signer: beneficiary,
          signedBy: `the beneficiary of ${id}`,
        };
      },
    };
  },
  Permit(purchase, { chain, deployment }) {
    const { id, buyer } = purchase;
    const numbered = (nonce: bigint) =>
      viewTypedData(
        permitTypedData(permitDomainOf(deployment), permitOf(purchase, { amount: 0n, nonce }, deployment)),
      );
    const { value: _, nonce: __, ...fixed } = numbered(0n).message;
    return {
      id,
      fixed,
      complete: async ({ value = null }) => {
        const known = numbered(await chain.permitNonce(buyer, (await chain.head()).hash));
        return {
          type: "Permit",
          subject: purchase,
          about: `the permit that pays ${id}`,
          typedData: { ...known, message: { ...known.message, value } },
          signer: buyer,
          signedBy: `the buyer of ${id}`,
        };
      },
    };
  },
};

function possibleAuthorization(merchant: MerchantRecord, { deployment }: Services): PossibleMessage {
  const { id } = merchant;
  const authorization = authorizationOf(merchant, deployment);
  const typedData = viewTypedData(fundingAuthorizationTypedData(domainOf(deployment), authorization));
  const message: KnownMessage = {
    type: "FundingAuthorization",
    subject: merchant,
    about: `the funding authorization of ${id}`,
    typedData,
    ...programSigner(merchant, deployment),
  };
  return { id, fixed: typedData.message, complete: async () => message };
}

/** Returns the claim that was filed, which no other one replaces; null while none was. */
async function filedClaim(
  purchase: PurchaseRecord,
  { store }: Services,
): Promise<{ requestedAmount: string; reasonHash: Hex } | null> {
  const filed = purchase.claim_id === null ? undefined : await store.get("claims", purchase.claim_id);
  if (filed === undefined) return null;
  const { requested_amount, reason } = filed.value;
  const { requestedAmount, reasonHash } = claimOf(purchase, { amount: BigInt(requested_amount), reason });
  return { requestedAmount: requestedAmount.toString(), reasonHash };
}

function programSigner({ program }: { program: string }, { programs }: Services["deployment"]) {
  const signer = programs.find(({ id }) => id === program)?.commitmentSigner;
  if (signer === undefined) throw new Error(`The program ${program} must be in the deployment.`);
  return { signer, signedBy: `the commitment signer of ${program}` };
}
