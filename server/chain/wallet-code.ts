import { type Address, ContractFunctionExecutionError, type Hex, type PublicClient, parseAbi } from "viem";
import type { WalletCode } from "../../protocol/binding/expected-transaction.ts";
import { recoverSigner } from "../../protocol/messages/wallet-signature.ts";
import type { SignatureVerdict } from "./chain-reader.ts";
import { codeAt } from "./code-at.ts";
import type { DeployedNode } from "./deployed-node.ts";

/**
 * A contract's answer to a valid signature (ERC-1271): four bytes, and zeros up to the end of the word as Solidity
 * demands.
 */
const magicValue = `0x1626ba7e${"00".repeat(28)}`;
/** The first bytes of the code of an account that delegates to other code (EIP-7702). */
const delegationPrefix = "0xef0100";

/** Reads what code a wallet has after a block. */
export async function readWalletCode(
  wallet: Address,
  { number, hash }: { number: number | bigint; hash: Hex },
  client: PublicClient,
): Promise<WalletCode> {
  const code = await codeAt(client, wallet, { number: BigInt(number), hash });
  if (code === "unknown") return "unknown";
  if (code === undefined || code === "0x") return "none";
  return code.toLowerCase().startsWith(delegationPrefix) ? "delegated" : "contract";
}

/** Verifies a wallet's signature over a digest: ECDSA (low s) for an account without code, ERC-1271 otherwise. */
export async function verifyWalletSignature(
  { wallet, digest, signature }: { wallet: Address; digest: Hex; signature: Hex },
  { client, reader }: Pick<DeployedNode, "client" | "reader">,
): Promise<SignatureVerdict> {
  const code = await reader.alone(async (at) => await client.getCode({ address: wallet, ...at }));
  if (code === undefined || code === "0x")
    return (await recoverSigner(digest, signature)) === wallet ? "valid" : "invalid";
  const isValid = await reader.alone(
    async (at) => await isValidByContract(client, { wallet, digest, signature }, at),
  );
  return isValid ? "valid" : "refused_by_contract";
}

async function isValidByContract(
  client: PublicClient,
  { wallet, digest, signature }: { wallet: Address; digest: Hex; signature: Hex },
  at: { blockHash?: Hex },
): Promise<boolean> {
  const abi = parseAbi(["function isValidSignature(bytes32 hash, bytes signature) view returns (bytes32)"]);
  try {
    const answer = await client.readContract({
      address: wallet,
      abi,
      functionName: "isValidSignature",
      args: [digest, signature],
      ...at,
    });
    return answer === magicValue;
  } catch (error) {
    if (error instanceof ContractFunctionExecutionError) return false;
    throw error;
  }
}
