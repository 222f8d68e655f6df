import type { Address } from "viem";
import { z } from "zod";
import type { RelayerContext } from "../context.ts";
import { RpcUnavailableError, SignerUnknownError } from "../errors.ts";
import { isAutomining } from "../node/automine.ts";
import { askNode, readNonce, readTransactionReceipt, sendRaw } from "../node/node.ts";
import { lookUntil } from "./look-until.ts";

/** Other software with the signer's key sends a transaction of its own, and it is mined. */
export async function useForeignNonce(context: RelayerContext, signer: Address): Promise<void> {
  const { node } = context;
  const account = context.accounts.get(signer);
  if (!account) throw new SignerUnknownError(signer);
  const { chainId } = await context.chain.identity();
  const nonce = await readNonce(node, signer);
  const { maxFeePerGas, maxPriorityFeePerGas } = await context.fees();
  const raw = await account.signTransaction({
    type: "eip1559",
    chainId,
    nonce,
    to: signer,
    value: 0n,
    gas: 21_000n,
    maxFeePerGas: maxFeePerGas * 2n,
    maxPriorityFeePerGas: maxPriorityFeePerGas * 2n,
  });
  const hash = await sendRaw(node, raw);
  // Foreign use counts once it is mined, and exactly one block may be made for it.
  if (!(await isAutomining(node))) await askNode(node, "evm_mine", [], z.unknown());
  const isMined = await lookUntil(async () => (await readTransactionReceipt(node, hash)) !== null, context);
  if (!isMined) throw new RpcUnavailableError("The foreign transaction", new Error("it was not mined"));
}
