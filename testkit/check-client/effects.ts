import { erc20Abi } from "viem";
import { purchaseRegistrarAbi } from "../../protocol/abi.generated.ts";
import type { Sandbox } from "../../sandbox/create-sandbox.ts";

/** The kinds of effects, in the order in which a purchase has them, each with its singular. */
export const effectNames = {
  merchants: "merchant",
  enrollments: "enrollment",
  purchases: "purchase",
  activations: "activation",
  allowances: "allowance",
  payments: "payment",
  claims: "claim",
  decisions: "decision",
  relay_operations: "relay operation",
  refunds: "refund",
  events: "event",
} as const;

/** A kind of effect. */
export type EffectKind = keyof typeof effectNames;

/** The kinds of effects. */
const effectKinds = Object.keys(effectNames) as readonly EffectKind[];

/** The effects of one kind. */
export interface EffectsOfKind {
  /** Ids, transaction hashes or addresses. */
  ids: readonly string[];
  /** Base units of the token; 0 for a kind without amounts. */
  sum: bigint;
}

/** The effects of a run, on the chain and in the records. */
export type Effects = { readonly [K in EffectKind]: EffectsOfKind };

/** Reads the effects that a sandbox has now: payments and allowances from the chain, all others from the records. */
export async function readEffects({ store, chain, description }: Sandbox): Promise<Effects> {
  const { registrar, token } = description.contracts;
  const { client } = chain;
  const all = { fromBlock: 0n, strict: true } as const;
  const [merchants, purchases, claims, decisions, refunds, operations, events, paid, approvals] =
    await Promise.all([
      store.list("merchants", {}),
      store.list("purchases", {}),
      store.list("claims", {}),
      store.list("decisions", {}),
      store.list("refunds", {}),
      store.list("operations", {}),
      store.list("events", {}),
      client.getContractEvents({
        address: registrar,
        abi: purchaseRegistrarAbi,
        eventName: "PurchasePaid",
        ...all,
      }),
      client.getContractEvents({ address: token, abi: erc20Abi, eventName: "Approval", ...all }),
    ]);
  const pairs = new Map(approvals.map(({ args }) => [`${args.owner} for ${args.spender}`, args] as const));
  const allowances = await Promise.all(
    [...pairs].map(async ([id, { owner, spender }]) => ({
      id,
      amount: await client.readContract({
        address: token,
        abi: erc20Abi,
        functionName: "allowance",
        args: [owner, spender],
      }),
    })),
  );
  return {
    merchants: total(merchants.map(({ key }) => ({ id: key }))),
    enrollments: total(
      merchants.filter(({ value }) => value.enrollment !== null).map(({ key }) => ({ id: key })),
    ),
    purchases: total(purchases.map(({ key, value }) => ({ id: key, amount: value.amount }))),
    activations: total(purchases.filter(({ value }) => value.route !== null).map(({ key }) => ({ id: key }))),
    allowances: total(allowances.filter(({ amount }) => amount > 0n)),
    payments: total(paid.map(({ transactionHash, args }) => ({ id: transactionHash, amount: args.amount }))),
    claims: total(claims.map(({ key, value }) => ({ id: key, amount: value.requested_amount }))),
    decisions: total(decisions.map(({ key, value }) => ({ id: key, amount: value.statement.award }))),
    relay_operations: total(operations.map(({ key }) => ({ id: key }))),
    refunds: total(
      refunds
        .filter(({ value }) => value.status === "collected")
        .map(({ key, value }) => ({ id: key, amount: value.award })),
    ),
    events: total(events.map(({ key }) => ({ id: key }))),
  };
}

function total(effects: readonly { id: string; amount?: string | bigint }[]): EffectsOfKind {
  return {
    ids: effects.map(({ id }) => id),
    sum: effects.reduce((sum, { amount = 0n }) => sum + BigInt(amount), 0n),
  };
}

/**
 * Returns the kinds of which a run has more or fewer effects, or a greater or smaller sum, than another one.
 *
 * @param ignored - the kinds whose sums are not compared, because they differ from one clean run to the next.
 */
export function compareEffects(
  effects: Effects,
  clean: Effects,
  ignored: readonly EffectKind[] = [],
): { more: EffectKind[]; fewer: EffectKind[] } {
  const difference = (kind: EffectKind) => {
    const count = effects[kind].ids.length - clean[kind].ids.length;
    if (count !== 0 || ignored.includes(kind)) return count;
    return Number(effects[kind].sum > clean[kind].sum) - Number(effects[kind].sum < clean[kind].sum);
  };
  // Tokens that were not paid or refunded are still allowed.
  const isSpent = difference("payments") === 0 && difference("refunds") === 0;
  const compared = effectKinds.filter((kind) => isSpent || kind !== "allowances");
  return {
    more: compared.filter((kind) => difference(kind) > 0),
    fewer: compared.filter((kind) => difference(kind) < 0),
  };
}
