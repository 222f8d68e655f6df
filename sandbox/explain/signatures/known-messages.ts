import type { Address, Hex } from "viem";
import { claimCall, enrollCall, payWithPermitCall, registerCall } from "../../../protocol/call.ts";
import { claimTypedData } from "../../../protocol/messages/claim.ts";
import { type Commitment, commitmentTypedData } from "../../../protocol/messages/commitment.ts";
import {
  type FundingAuthorization,
  fundingAuthorizationTypedData,
} from "../../../protocol/messages/funding-authorization.ts";
import { type Permit, permitTypedData, signedPermit } from "../../../protocol/messages/permit.ts";
import type { Json } from "../../../protocol/values/json.ts";
import { authorizationOf, commitmentOf, domainOf } from "../../../server/binding/commitment-of.ts";
import { type Expectation, expectClaim } from "../../../server/binding/expectations.ts";
import { permitDomainOf, permitOf } from "../../../server/binding/permits.ts";
import type { Services } from "../../../server/http/services.ts";
import { claimOf } from "../../../server/refunds/claims.ts";
import { readOnChain } from "../../../server/store/records/find.ts";
import type { MerchantRecord, PurchaseRecord } from "../../../server/store/records.ts";
import { viewTypedData } from "../../../server/transactions/views.ts";
import type { UnsentCall } from "../explain-call.ts";
import { answerOfClaim, answerOfPermit, type ServiceAnswer, type Submitted } from "./service-answer.ts";
import { type GivenTypedData, hashesOf, typedDataDigest } from "./typed-data.ts";

/** The messages that a step takes, by their primary type. */
export const knownTypes = ["Purchase", "FundingAuthorization", "Claim", "Permit"] as const;

/** The primary type of a message that a step takes. */
export type KnownType = (typeof knownTypes)[number];

/** A message that the sandbox knows, and who has to sign it. */
export interface KnownMessage {
  type: KnownType;
  /** The id of the purchase or the merchant that it is about. */
  id: string;
  /** The message in words, such as `the claim of pur_…`. */
  about: string;
  typedData: GivenTypedData;
  signer: Address;
  /** The signer in words, such as `the beneficiary of pur_…`. */
  signedBy: string;
  /** The merchant that enrolls with a funding authorization. */
  merchant?: MerchantRecord;
  /**
   * Returns the call that carries the given message to a contract, with its signature or, of a message that the service signs, with the
   * known one; null where a call needs what is not given.
   *
   * @throws Error for a value that has no calldata.
   */
  callOf: (given: GivenTypedData, signature: Hex | undefined) => UnsentCall | null;
  /** Returns what the service expects of this call, where it knows more than the call says. */
  expect?: () => Promise<Expectation | undefined>;
  /** Returns what the service would answer to the message; a message that the service signs itself has no answer. */
  answerOf?: (submitted: Submitted) => Promise<ServiceAnswer>;
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
    const { id, merchant, commitment_signature } = purchase;
    const commitment = commitmentOf(purchase, deployment);
    const typedData = viewTypedData(commitmentTypedData(domainOf(deployment), commitment));
    return complete({
      type: "Purchase",
      id,
      about: `the commitment of ${id}`,
      typedData,
      ...programSigner(purchase, deployment),
      callOf: (given, signature = commitment_signature) => ({
        from: merchant,
        ...registerCall(deployment.registrar.address, structOf<Commitment>(given, typedData), signature),
      }),
    });
  },
  Claim(purchase, services) {
    const { id, commitment_hash: commitment, beneficiary } = purchase;
    const { address } = services.deployment.registrar;
    const claim = claimOf(purchase, { amount: 0n, reason: "" });
    const known = viewTypedData(claimTypedData(domainOf(services.deployment), claim));
    return {
      id,
      fixed: { commitment, beneficiary },
      complete: async ({ requestedAmount = null, reasonHash = null }) => {
        const filed = await filedClaim(purchase, services);
        const typedData = {
          ...known,
          message: { ...known.message, ...(filed ?? { requestedAmount, reasonHash }) },
        };
        return {
          type: "Claim",
          id,
          about: `the claim of ${id}`,
          typedData,
          signer: beneficiary,
          signedBy: `the beneficiary of ${id}`,
          callOf: (given) => ({
            from: beneficiary,
            ...claimCall(address, commitment, hashesOf(given).digest),
          }),
          // The service computes the hash itself, and takes only amount and reason from the given data.
          expect: async () => {
            const claimHash = typedDataDigest(typedData);
            const { exists } = await readOnChain(purchase, services);
            return claimHash === null ? undefined : expectClaim(purchase, claimHash, exists, services);
          },
          answerOf: async (submitted) => await answerOfClaim(purchase, submitted, services),
        };
      },
    };
  },
  Permit(purchase, services) {
    const { id, buyer, commitment_hash } = purchase;
    const { chain, deployment } = services;
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
          id,
          about: `the permit that pays ${id}`,
          typedData: { ...known, message: { ...known.message, value } },
          signer: buyer,
          signedBy: `the buyer of ${id}`,
          callOf(given, signature) {
            if (signature === undefined) return null;
            const { value: amount, deadline } = structOf<Permit>(given, known);
            const permit = signedPermit(deadline, signature);
            const call = payWithPermitCall(deployment.registrar.address, commitment_hash, amount, permit);
            return { from: buyer, ...call };
          },
          answerOf: async (submitted) => await answerOfPermit(purchase, submitted, services),
        };
      },
    };
  },
};

function possibleAuthorization(merchant: MerchantRecord, { deployment }: Services): PossibleMessage {
  const { id, wallet, funding } = merchant;
  const authorization = authorizationOf(merchant, deployment);
  const typedData = viewTypedData(fundingAuthorizationTypedData(domainOf(deployment), authorization));
  return complete({
    type: "FundingAuthorization",
    id,
    about: `the funding authorization of ${id}`,
    typedData,
    ...programSigner(merchant, deployment),
    merchant,
    callOf: (given, signature = funding.signature) => ({
      from: wallet,
      ...enrollCall(
        deployment.registrar.address,
        structOf<FundingAuthorization>(given, typedData),
        signature,
      ),
    }),
  });
}

/** A message that leaves no member open. */
function complete(message: KnownMessage): PossibleMessage {
  return { id: message.id, fixed: message.typedData.message, complete: async () => message };
}

/** Returns the members of a message as a contract's arguments are passed: integers as bigints. */
function structOf<T>({ message }: GivenTypedData, { types, primaryType }: GivenTypedData): T {
  const entries = (types[primaryType] ?? []).map(({ name, type }) => {
    const value = message[name];
    return [name, type.startsWith("uint") ? BigInt(String(value)) : value];
  });
  return Object.fromEntries(entries) as T;
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
