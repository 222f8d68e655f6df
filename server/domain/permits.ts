import type { Hex } from "viem";
import { type Call, payWithPermitCall } from "../../protocol/call.ts";
import { type Permit, signedPermit, tokenDomain } from "../../protocol/permit.ts";
import type { Deployment } from "../deployment.ts";
import type { PurchaseRecord } from "../store/records.ts";

/** Returns the permit that pays an amount of a purchase: to the registrar contract, until the payment deadline. */
export function permitOf(
  { buyer, pay_deadline }: PurchaseRecord,
  { amount, nonce }: { amount: bigint; nonce: bigint },
  { registrar }: Deployment,
): Permit {
  return { owner: buyer, spender: registrar.address, value: amount, nonce, deadline: BigInt(pay_deadline) };
}

/** Returns where a permit counts. */
export function permitDomainOf({ chainId, token }: Deployment) {
  return tokenDomain(chainId, token.address);
}

/** Returns the payment of a purchase under the permit that its buyer signed. */
export function permitPayment(
  { commitment_hash, pay_deadline }: PurchaseRecord,
  { amount, signature }: { amount: bigint; signature: Hex },
  { registrar }: Deployment,
): Call {
  const permit = signedPermit(BigInt(pay_deadline), signature);
  return payWithPermitCall(registrar.address, commitment_hash, amount, permit);
}

/** Stands for a signature that is not made yet; no account signs so. */
export const noSignature: Hex = `0x${"00".repeat(65)}`;
