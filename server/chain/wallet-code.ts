import { type Address, ContractFunctionExecutionError, type Hex, type PublicClient, parseAbi } from "viem";
import type { WalletCode } from "../../protocol/binding/expected-transaction.ts";
import { recoverSigner } from "../../protocol/messages/wallet-signature.ts";
import type { SignatureVerdict } from "./chain-reader.ts";
import type { DeployedNode } from "./deployed-node.ts";
import { isStateGone } from "./head-reader.ts";

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
  blockHash: Hex,
  client: PublicClient,
): Promise<WalletCode> {
  return kindOf(await codeAt(client, wallet, blockHash));
}

function kindOf(code: Hex | undefined): WalletCode {
  if (code === undefined || code === "0x") return "none";
  return code.toLowerCase().startsWith(delegationPrefix) ? "delegated" : "contract";
}

/**
 * Verifies a wallet's signature over a digest: ECDSA (low s) by an account, ERC-1271 by a contract, and either one by an account that
 * delegates to code (EIP-7702), whose own key still signs its transactions.
 */
export async function verifyWalletSignature(
  { wallet, digest, signature }: { wallet: Address; digest: Hex; signature: Hex },
  { client, reader }: Pick<DeployedNode, "client" | "reader">,
): Promise<SignatureVerdict> {
  const code = kindOf(await reader.alone(async (at) => await client.getCode({ address: wallet, ...at })));
  if (code !== "contract" && (await recoverSigner(digest, signature)) === wallet) return "valid";
  if (code === "none") return "invalid";
  const isValid = await reader.alone(
    async (at) => await isValidByContract(client, { wallet, digest, signature }, at),
  );
  if (isValid) return "valid";
  return code === "contract" ? "refused_by_contract" : "invalid";
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

/**
 * Reads the code of an account as it is after a block.
 *
 * A node keeps the state of its latest blocks only. Beyond that the code is the one of now: nothing but a delegation (EIP-7702), which
 * counts as no code of the account's own, and a node's own test calls change it.
 *
 * @returns undefined for an account without code.
 */
export async function codeAt(
  client: PublicClient,
  address: Address,
  blockHash: Hex,
): Promise<Hex | undefined> {
  try {
    return await client.getCode({ address, blockHash });
  } catch (error) {
    if (!isStateGone(error)) throw error;
  }
  return await client.getCode({ address });
}
