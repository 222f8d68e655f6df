import type { Address, Hex } from "viem";

/**
 * Returns the text that a merchant's wallet signs with `personal_sign` (EIP-191) to enroll.
 *
 * @param enrollment - `authorization` is the EIP-712 digest of the funding authorization.
 * @example await account.signMessage({ message: enrollmentMessage(enrollment) })
 */
export function enrollmentMessage(enrollment: {
  program: string;
  merchant: string;
  wallet: Address;
  chainId: number;
  registrar: Address;
  authorization: Hex;
}): string {
  return [
    "Enroll this wallet as a merchant of the routing sandbox.",
    "",
    `Program: ${enrollment.program}`,
    `Merchant: ${enrollment.merchant}`,
    `Wallet: ${enrollment.wallet}`,
    `Chain: ${enrollment.chainId}`,
    `Registrar: ${enrollment.registrar}`,
    `Funding authorization: ${enrollment.authorization}`,
    "",
    "Test money only.",
  ].join("\n");
}
