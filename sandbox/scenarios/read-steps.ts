import type { Address, Hex } from "viem";
import { z } from "zod";
import { purchaseRegistrarAbi, testUsdcAbi } from "../../protocol/abi.generated.ts";
import { decodeCall } from "../../protocol/call.ts";
import { sameAddress } from "../../protocol/values/same-address.ts";
import type { ChainClient } from "../chain/client/chain-client.ts";
import { mostBlocks } from "../chain/clock/mining-limits.ts";
import type { ChainNode } from "../chain/start-chain.ts";
import type { SandboxDescription } from "../options/description.ts";
import { blockName, type Step, type WalletStep } from "./scenario.ts";

/** A block that the recorder has seen. */
export interface SeenBlock {
  number: bigint;
  hash: Hex;
  timestamp: bigint;
}

/** The newest block. */
export async function readNewestBlock(client: ChainClient): Promise<SeenBlock> {
  const { number, hash, timestamp } = await client.getBlock({ blockTag: "latest" });
  return { number, hash, timestamp };
}

/**
 * Returns the blocks above one as steps: the transactions of wallets, the moves of time, the number of mined blocks. A transaction of the
 * relayer is no step: the request that caused it is.
 *
 * @param caused - whether something that is a step itself made these blocks, so that only what wallets sent counts.
 * @returns null when the block is no longer on the chain.
 */
export async function readSteps(
  chain: ChainNode,
  names: SandboxDescription["wallets"],
  from: SeenBlock,
  caused: boolean,
): Promise<{ steps: Step[]; head: SeenBlock } | null> {
  const { client } = chain;
  const operators = chain.deployment.programs.map(({ operator }) => operator.toLowerCase());
  const known = await client.getBlock({ blockNumber: from.number }).catch(() => null);
  if (known?.hash !== from.hash) return null;
  const { number: last } = await readNewestBlock(client);
  const automine = await client.getAutomine();
  const steps: Step[] = [];
  let before = from;
  for (let number = from.number + 1n; number <= last; number += 1n) {
    const found = await client.getBlock({ blockNumber: number, includeTransactions: true });
    const sent = found.transactions.filter(({ from: sender }) => !operators.includes(sender.toLowerCase()));
    const block = blockName(found);
    const ahead = Number(found.timestamp - before.timestamp);
    if (sent.length > 0) {
      // A receipt that is asked for by hash is missing until the pool has let go of its transaction.
      const receipts = await client.request({ method: "eth_getBlockReceipts", params: [found.hash] });
      const succeeded = ({ hash }: { hash: Hex }) =>
        receipts?.some(({ transactionHash, status }) => transactionHash === hash && status === "0x1");
      const transactions = await Promise.all(
        sent.map((one) => describe(chain, names, one, succeeded(one) ? "success" : "reverted")),
      );
      const title = transactions.map(({ from: wallet, call }) => `${wallet}: ${call}`).join("; ");
      const travel = ahead > 1 ? { travel: ahead } : {};
      steps.push({ title, transactions, ...travel, block });
    } else if (!caused && ahead > 1)
      steps.push({ title: `Time moves ahead by ${ahead} s`, travel: ahead, block });
    else if (!caused && (found.transactions.length === 0 || !automine)) {
      const previous = steps.at(-1);
      const isOneStep = previous !== undefined && "mine" in previous && previous.mine < mostBlocks;
      const mine = isOneStep ? previous.mine + 1 : 1;
      if (mine > 1) steps.pop();
      steps.push({ title: mine === 1 ? "A block is mined" : `${mine} blocks are mined`, mine, block });
    }
    before = { number, hash: found.hash, timestamp: found.timestamp };
  }
  return { steps, head: before };
}

async function describe(
  { client, deployment }: ChainNode,
  names: SandboxDescription["wallets"],
  transaction: { hash: Hex; from: Address; to: Address | null; input: Hex },
  status: "success" | "reverted",
): Promise<WalletStep["transactions"][number]> {
  const { hash, from, to, input } = transaction;
  const abi = sameAddress(to, deployment.token.address) ? testUsdcAbi : purchaseRegistrarAbi;
  const call = decodeCall(abi, input);
  const named = Object.entries(names).find(([, { address }]) => sameAddress(address, from));
  const raw = await client.request({ method: "eth_getRawTransactionByHash", params: [hash] });
  return {
    from: named?.[0] ?? from,
    call: call === null ? `${input.slice(0, 10)} to ${to ?? "a new contract"}` : written(call),
    hash,
    status,
    raw: z.string().startsWith("0x").parse(raw),
  };
}

function written(call: { function: string; args: { [name: string]: unknown } }): string {
  const args = Object.entries(call.args).map(([name, value]) => {
    const text = typeof value === "string" ? value : JSON.stringify(value);
    return `${name}: ${text.length <= 42 ? text : `${text.slice(0, 12)}…`}`;
  });
  return `${call.function}(${args.join(", ")})`;
}
