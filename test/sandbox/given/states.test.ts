import { createPublicClient, type Hex, http } from "viem";
import { beforeAll, expect, test } from "vitest";
import { purchaseRegistrarAbi } from "../../../protocol/abi.generated.ts";
import type { Sandbox } from "../../../sandbox/create-sandbox.ts";
import type { PurchaseState, Route } from "../../../sandbox/given/states.ts";
import { freshSandbox } from "../../kit/fresh-sandbox.ts";

const amount = "25000000";
const part = "12500000";
const requested = "10000000";
const awarded = "4000000";

/** The expected answers of chain and API for each state. The chain's status and route are the numbers of its enums. */
const expected: { readonly [S in PurchaseState]: { chain: object; api: object; options?: object } } = {
  created: {
    chain: { status: 0, paid: 0n, refunded: 0n, claimed: false },
    api: { status: "created", payment_status: "unpaid", expired: false },
  },
  active: {
    chain: { status: 1, paid: 0n, refunded: 0n, claimed: false },
    api: { status: "active", payment_status: "unpaid", expired: false },
  },
  partially_paid: {
    chain: { status: 1, paid: BigInt(part), refunded: 0n, claimed: false },
    api: { status: "active", payment_status: "partially_paid", reconciled: "0", receipts: [part] },
  },
  paid: {
    chain: { status: 1, paid: BigInt(amount), refunded: 0n, claimed: false },
    api: { status: "active", payment_status: "paid", reconciled: "0", receipts: [amount] },
  },
  reconciled: {
    chain: { status: 1, paid: BigInt(amount), refunded: 0n, claimed: false },
    api: { status: "active", payment_status: "paid", reconciled: amount, receipts: [amount] },
  },
  claimed: {
    chain: { paid: BigInt(amount), refunded: 0n, claimed: true },
    api: { status: "claimed", reconciled: amount, claim: requested, decision: null, refund: null },
    options: { claimed: requested },
  },
  approved: {
    chain: { paid: BigInt(amount), refunded: 0n, claimed: true },
    api: { status: "approved", claim: requested, decision: ["approved", awarded], refund: null },
    options: { claimed: requested, award: awarded },
  },
  denied: {
    chain: { paid: BigInt(amount), refunded: 0n, claimed: true },
    api: { status: "denied", claim: requested, decision: ["denied", "0"], refund: null },
    options: { claimed: requested },
  },
  refund_due: {
    chain: { paid: BigInt(amount), refunded: 0n, claimed: true },
    api: { status: "refund_due", decision: ["approved", awarded], refund: ["due", awarded], refunded: "0" },
    options: { claimed: requested, award: awarded },
  },
  refunded: {
    chain: { paid: BigInt(amount), refunded: BigInt(awarded), claimed: false },
    api: { status: "refunded", refund: ["collected", awarded], refunded: awarded },
    options: { claimed: requested, award: awarded },
  },
  expired: {
    chain: { status: 1, paid: 0n, refunded: 0n, claimed: false },
    api: { status: "active", payment_status: "unpaid", expired: true },
  },
};
const states = Object.keys(expected) as PurchaseState[];
const routeNumbers = { registrar_offer: 1, merchant_direct: 2 } as const;
const routes = Object.keys(routeNumbers) as Route[];

let sandbox: Sandbox;
let credential: string;

beforeAll(async () => {
  sandbox = await freshSandbox();
  const { urls, accounts } = sandbox.description;
  const answer = await fetch(`${urls.api}/v1/routing/access`, {
    method: "POST",
    headers: { Authorization: `Bearer ${accounts[0]?.key}` },
  });
  credential = JSON.parse(await answer.text()).credential;
});

/** Returns a purchase as it is on the chain, read only through the chain RPC. */
async function onChain(id: Hex) {
  const { urls, contracts } = sandbox.description;
  const chain = createPublicClient({ transport: http(urls.rpc) });
  const state = await chain.readContract({
    address: contracts.registrar,
    abi: purchaseRegistrarAbi,
    functionName: "purchase",
    args: [id],
  });
  const { status, route, paid, refunded, claimHash } = state;
  return { status, route, paid, refunded, claimed: BigInt(claimHash) !== 0n };
}

/** The purchase as the API answers a client with a credential of its own. */
async function inApi(id: string) {
  const { urls } = sandbox.description;
  const answer = await fetch(`${urls.api}/v1/routing/programs/prg_demo/purchases/${id}`, {
    headers: { Authorization: `Bearer ${credential}` },
  });
  expect(answer.status).toBe(200);
  return JSON.parse(await answer.text());
}

function summarize(purchase: Awaited<ReturnType<typeof inApi>>) {
  const { status, route, payment_status, expired, figures, receipts, claim, decision, refund } = purchase;
  return {
    status,
    route,
    payment_status,
    expired,
    reconciled: figures.reconciled,
    refunded: figures.refunded,
    receipts: receipts.map((receipt: { amount: string }) => receipt.amount),
    claim: claim?.requested_amount ?? null,
    decision: decision && [decision.outcome, decision.award],
    refund: refund && [refund.status, refund.award],
  };
}

const reachable = routes.flatMap((route) =>
  states.filter((state) => state !== "created").map((state) => [state, route] as const),
);

test.each(reachable)("a purchase is given %s by %s, on chain and in the API", async (state, route) => {
  const { chain, api, options } = expected[state];
  const given = await sandbox.given.purchase({ state, route, amount, ...options });
  const read = await inApi(given.purchase.id);
  expect(await onChain(given.purchase.commitment.hash)).toMatchObject({
    ...chain,
    route: routeNumbers[route],
  });
  expect(summarize(read)).toMatchObject({ ...api, route });
  const { receipts, claim, decision, refund } = read;
  expect(given.purchase.figures.as_of.block_number).toBeLessThanOrEqual(read.figures.as_of.block_number);
  expect(given).toMatchObject({ payments: receipts, claim, decision, refund });
  expect({ ...given.purchase, figures: null }).toEqual({ ...read, figures: null });
  expect(given.merchant).toMatchObject({ id: read.merchant_id, status: "enrolled" });
});

test("a purchase is given created, with nothing of it on chain", async () => {
  const { chain, api } = expected.created;
  const { purchase, payments, claim } = await sandbox.given.purchase({ state: "created", amount });
  expect(await onChain(purchase.commitment.hash)).toMatchObject({ ...chain, route: 0 });
  expect(summarize(await inApi(purchase.id))).toMatchObject({ ...api, route: null });
  expect([payments, claim]).toEqual([[], null]);
});
