import { concat, decodeFunctionData, type Hex, numberToHex } from "viem";
import { purchaseRegistrarAbi } from "../../protocol/abi.generated.ts";
import { contractWalletReason } from "../../protocol/binding/check-binding.ts";
import type { WalletCode } from "../../protocol/binding/expected-transaction.ts";
import { type Call, decodeCall, payWithPermitCall } from "../../protocol/call.ts";
import { hashPermit, type Permit, signedPermit, tokenDomain } from "../../protocol/messages/permit.ts";
import { recoverSigner } from "../../protocol/messages/wallet-signature.ts";
import type { ChainCall } from "../chain/chain-reader.ts";
import type { Deployment } from "../chain/deployment.ts";
import type { Services } from "../http/services.ts";
import type { PurchaseRecord } from "../store/records.ts";

/**
 * Returns the permit that pays an amount of a purchase: to the registrar contract, until the pay deadline. Before it is offered,
 * `planPermitPayment` of domain/wallets/wallet-actions.ts simulates the payment.
 */
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

/** Says why the wallet route takes no permit of a buyer, by the code at its address; null when it takes one. */
export function whyNoPermit(code: WalletCode): string | null {
  if (code === "contract") return contractWalletReason;
  return code === "none"
    ? null
    : "The buyer delegates to code (EIP-7702), and the token asks that code, not the buyer's key, whether a permit is valid. Let the buyer approve the payment and pay.";
}

/** In place of a signature that is not made yet; no account signs so. */
export const noSignature: Hex = `0x${"00".repeat(65)}`;

/** The number of used nonces that are tried on a signature, to tell an outdated permit from one of another account. */
const triedNonces = 16n;

/** Finds the nonce of the permit that its owner has signed, the next one or one that was used; null where it has signed neither. */
export async function findNonce(
  permit: Omit<Permit, "nonce">,
  signature: Hex,
  next: bigint,
  deployment: Deployment,
): Promise<bigint | null> {
  for (let nonce = next; nonce >= 0n && nonce >= next - triedNonces; nonce -= 1n) {
    const digest = hashPermit(permitDomainOf(deployment), { ...permit, nonce });
    if ((await recoverSigner(digest, signature)) === permit.owner) return nonce;
  }
  return null;
}

/** The facts about a permit. */
export interface FoundPermit {
  /** Its nonce, null where its owner has not signed it. */
  nonce: bigint | null;
  /** The nonce that the token expects next. */
  next: bigint;
  /** Whether its owner has code, which the token asks whether the permit is valid (ERC-1271). */
  hasCode: boolean;
}

/** Reads which permit a `payWithPermit` pays under; null for any other call. */
export async function permitOfCall(
  { from: owner, data }: ChainCall,
  { chain, deployment }: Pick<Services, "chain" | "deployment">,
): Promise<FoundPermit | null> {
  if (decodeCall(purchaseRegistrarAbi, data)?.function !== "payWithPermit") return null;
  const { functionName, args } = decodeFunctionData({ abi: purchaseRegistrarAbi, data });
  if (functionName !== "payWithPermit") return null;
  const [, value, deadline, v, r, s] = args;
  const head = await chain.head();
  const next = await chain.permitNonce(owner, head.hash);
  const hasCode = (await chain.walletCode(owner, head)) !== "none";
  const permit = { owner, spender: deployment.registrar.address, value, deadline };
  const signature = concat([r, s, numberToHex(v, { size: 1 })]);
  return { nonce: await findNonce(permit, signature, next, deployment), next, hasCode };
}
