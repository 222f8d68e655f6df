import { type Address, formatEther, formatUnits, hexToBigInt } from "viem";
import { testUsdcAbi } from "../../protocol/abi.generated.ts";
import { usdcDecimals } from "../../protocol/values/amount.ts";
import { SandboxError } from "../lib/errors/sandbox-error.ts";
import { relayGas } from "../service/open-relayer.ts";
import { walletGas } from "../wallets/wallet.ts";
import type { GivenActors } from "./actors/actors.ts";
import { lacksFunding, walletOf } from "./give-merchant.ts";
import type { MerchantPlan, PurchasePlan } from "./options.ts";
import { statesOf } from "./states.ts";

/** An account and how much a given state needs it to have. */
interface Means {
  /** The name of the account, as the file of keys has it. */
  who: string;
  address: Address;
  /** Gas units of all that it sends. */
  gas: bigint;
  /** Base units. */
  tokens?: bigint;
}

/**
 * Refuses a given merchant on a node's chain whose wallet cannot pay for its transactions, before anything is sent.
 *
 * @throws SandboxError wallet_unfunded
 */
export async function requireMerchantMeans(plan: MerchantPlan, actors: GivenActors): Promise<void> {
  if (actors.chain.isOwn) return;
  const { address } = actors.wallets[plan.wallet];
  const sends = await transactionsOfMerchant(plan, address, actors);
  await requireMeans([{ who: plan.wallet, address, gas: walletGas * sends }], actors);
}

/**
 * Refuses a given purchase on a node's chain if a wallet or the operator cannot pay for what it has to send, before anything is sent.
 *
 * @throws SandboxError wallet_unfunded
 */
export async function requirePurchaseMeans(plan: PurchasePlan, actors: GivenActors): Promise<void> {
  const { chain, wallets, merchants } = actors;
  if (chain.isOwn) return;
  const { state, route, permit } = plan;
  // All three are needed in every state, and one that the keys lack is refused here.
  const [buyer, beneficiary] = [wallets[plan.buyer], wallets[plan.beneficiary]];
  const merchant = plan.merchant === undefined ? null : await merchants.byId(plan.merchant);
  // A merchant that does not exist is refused afterwards.
  if (merchant === null && plan.merchant !== undefined) return;
  const program = merchant?.program ?? plan.program ?? actors.firstProgram;
  const isPaid = statesOf.permit.includes(state);
  const isOnChain = statesOf.route.includes(state);
  const registers = isOnChain && route === "merchant_direct" ? 1n : 0n;
  const funds = merchant !== null && lacksFunding(merchant, plan) ? 1n : 0n;
  const needs: Means[] = [
    {
      who: plan.buyer,
      address: buyer.address,
      gas: isPaid ? walletGas * (permit === true ? 1n : 2n) : 0n,
      tokens: isPaid ? BigInt(plan.paid) : 0n,
    },
    {
      who: plan.beneficiary,
      address: beneficiary.address,
      gas: statesOf.claimed.includes(state) ? walletGas : 0n,
    },
  ];
  if (merchant === null) {
    const { address } = wallets.merchant;
    const sends = await transactionsOfMerchant({ state: "funded", program }, address, actors);
    needs.push({ who: "merchant", address, gas: walletGas * (sends + registers) });
  } else if (registers + funds > 0n) {
    const { address } = walletOf(merchant, wallets);
    needs.push({ who: `merchant ${merchant.id}`, address, gas: walletGas * (registers + funds) });
  }
  const operator = chain.deployment.programs.find(({ id }) => id === program)?.operator;
  const offers = isOnChain && route === "registrar_offer" ? relayGas.offer : 0n;
  const collects = state === "refunded" ? relayGas.collect_refund : 0n;
  if (operator !== undefined)
    needs.push({ who: `operator of ${program}`, address: operator, gas: offers + collects });
  await requireMeans(needs, actors);
}

/** Returns how many transactions a wallet sends to become the merchant of a plan. */
async function transactionsOfMerchant(
  { state, program }: Pick<MerchantPlan, "state" | "program">,
  wallet: Address,
  { merchants, firstProgram }: GivenActors,
): Promise<bigint> {
  const enrolled = await merchants.enrolledBy(program ?? firstProgram, wallet);
  const isFunded =
    enrolled !== null && BigInt(enrolled.funding.allowance) >= BigInt(enrolled.funding.remaining);
  const enrolls = state !== "pending" && enrolled === null ? 1n : 0n;
  return enrolls + (state === "funded" && !isFunded ? 1n : 0n);
}

/** An account can have several parts in a state. @throws SandboxError wallet_unfunded */
async function requireMeans(needs: readonly Means[], { chain }: GivenActors): Promise<void> {
  const { client, terms, deployment } = chain;
  const { address: token, symbol } = deployment.token;
  const { maxFeePerGas } = await terms.fees();
  // By its hash: a node of the provider that lags behind would have older balances.
  const { hash: blockHash } = await client.getBlock();
  const lacking: string[] = [];
  const lacked = new Set<string>();
  const needed = needs.filter(({ gas, tokens = 0n }) => gas + tokens > 0n);
  for (const [address, parts] of Map.groupBy(needed, (need) => need.address)) {
    const who = [...new Set(parts.map((part) => part.who))].join(", ");
    const cost = parts.reduce((sum, { gas }) => sum + gas, 0n) * maxFeePerGas;
    const tokens = parts.reduce((sum, part) => sum + (part.tokens ?? 0n), 0n);
    const wei = await client.request({ method: "eth_getBalance", params: [address, { blockHash }] });
    const ether = hexToBigInt(wei);
    const balance =
      tokens === 0n
        ? 0n
        : await client.readContract({
            address: token,
            abi: testUsdcAbi,
            functionName: "balanceOf",
            args: [address],
            blockHash,
          });
    if (ether < cost) {
      lacked.add("test ether");
      lacking.push(
        `${address} (${who}) has ${formatEther(ether)} ether and needs ${formatEther(cost)} for gas`,
      );
    }
    if (balance < tokens) {
      lacked.add(symbol);
      lacking.push(
        `${address} (${who}) has ${formatUnits(balance, usdcDecimals)} ${symbol} and needs ${formatUnits(tokens, usdcDecimals)}`,
      );
    }
  }
  if (lacking.length === 0) return;
  throw new SandboxError(
    "wallet_unfunded",
    `${lacking.join("; ")}. Send the ${[...lacked].join(" and ")} that is missing, such as from a faucet.`,
  );
}
