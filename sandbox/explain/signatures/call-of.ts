import type { Hex } from "viem";
import { type Call, claimCall, enrollCall, payWithPermitCall, registerCall } from "../../../protocol/call.ts";
import { type Commitment, purchaseTypes } from "../../../protocol/messages/commitment.ts";
import {
  type FundingAuthorization,
  fundingAuthorizationTypes,
} from "../../../protocol/messages/funding-authorization.ts";
import { type Permit, permitTypes, signedPermit } from "../../../protocol/messages/permit.ts";
import type { Deployment } from "../../../server/chain/deployment.ts";
import type { MerchantRecord, PurchaseRecord } from "../../../server/store/records.ts";
import type { UnsentCall } from "../explain-call.ts";
import type { KnownMessage, KnownType } from "./known-messages.ts";
import { type GivenTypedData, hashesOf, type TypeMembers } from "./typed-data.ts";

/** Typed data and its signature, with the message that the sandbox knows. */
export interface Carried {
  given: GivenTypedData;
  known: KnownMessage;
  signature: Hex | undefined;
}

/**
 * Returns the call that carries typed data to a contract, with its signature or, of a message that the service signs, with the known
 * one; null where a call needs what is not given.
 */
export function callOf(carried: Carried, deployment: Deployment): UnsentCall | null {
  try {
    const made = calls[carried.known.type](carried, deployment);
    return made === null ? null : { from: made.from, to: made.call.to, data: made.call.data };
  } catch {
    // A value of another type has no calldata; the comparison of the members names it.
    return null;
  }
}

type MakeCall = (carried: Carried, deployment: Deployment) => { from: Hex; call: Call } | null;

const calls: { readonly [T in KnownType]: MakeCall } = {
  Purchase({ given, known, signature }, { registrar }) {
    const { merchant, commitment_signature } = known.subject as PurchaseRecord;
    const commitment = structOf<Commitment>(given, purchaseTypes);
    return {
      from: merchant,
      call: registerCall(registrar.address, commitment, signature ?? commitment_signature),
    };
  },
  FundingAuthorization({ given, known, signature }, { registrar }) {
    const { wallet, funding } = known.subject as MerchantRecord;
    const authorization = structOf<FundingAuthorization>(given, fundingAuthorizationTypes);
    return {
      from: wallet,
      call: enrollCall(registrar.address, authorization, signature ?? funding.signature),
    };
  },
  Claim({ given, known }, { registrar }) {
    const { beneficiary, commitment_hash } = known.subject as PurchaseRecord;
    return {
      from: beneficiary,
      call: claimCall(registrar.address, commitment_hash, hashesOf(given).digest),
    };
  },
  Permit({ given, known, signature }, { registrar }) {
    if (signature === undefined) return null;
    const { buyer, commitment_hash } = known.subject as PurchaseRecord;
    const { value, deadline } = structOf<Permit>(given, permitTypes);
    const permit = signedPermit(deadline, signature);
    return { from: buyer, call: payWithPermitCall(registrar.address, commitment_hash, value, permit) };
  },
};

/** Returns the members of a message as a contract's arguments are passed: integers as bigints. */
function structOf<T>({ primaryType, message }: GivenTypedData, types: TypeMembers): T {
  const entries = (types[primaryType] ?? []).map(({ name, type }) => {
    const value = message[name];
    return [name, type.startsWith("uint") ? BigInt(String(value)) : value];
  });
  return Object.fromEntries(entries) as T;
}
