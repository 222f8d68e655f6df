import { type Address, createPublicClient, getAddress, type Hex, http } from "viem";
import { expect } from "vitest";
import { z } from "zod";
import { purchaseRegistrarAbi } from "../../protocol/abi.generated.ts";
import { initialBalances } from "../../sandbox/chain/genesis/roles.ts";
import type { SandboxDescription } from "../../sandbox/options/description.ts";
import { programSchema } from "../../server/schemas/programs.ts";
import { relayOperationSchema, transactionsSchema } from "../../server/schemas/transactions.ts";
import type { Store } from "../../server/store/store.ts";
import type { ExactAnswer, RelayedRequest } from "./storefront.ts";

/** A relayed operation as the API answers it. */
export type AnsweredOperation = z.output<typeof relayOperationSchema>;

const relayedAnswer = z.looseObject({ operation: relayOperationSchema, event_id: z.string().nullable() });
const refusal = z.looseObject({ code: z.string() });

/** The operation in an answer. */
export function operationIn({ text }: ExactAnswer): AnsweredOperation {
  return relayedAnswer.parse(JSON.parse(text)).operation;
}

/** The code of a refusal. */
export function codeOf({ text }: ExactAnswer): string {
  return refusal.parse(JSON.parse(text)).code;
}

/** Every relayed operation and the gas budget, page by page. */
export async function readTransactions({ urls, accounts }: SandboxDescription, credential: string) {
  const program = accounts[0]?.program;
  const data: AnsweredOperation[] = [];
  for (let cursor: string | null = ""; ; ) {
    const query = cursor === "" ? "limit=100" : `limit=100&cursor=${cursor}`;
    const url = `${urls.api}/v1/routing/programs/${program}/transactions?${query}`;
    const response = await fetch(url, { headers: { Authorization: `Bearer ${credential}` } });
    const page: z.output<typeof transactionsSchema> = transactionsSchema.parse(await response.json());
    data.push(...page.data);
    cursor = page.next_cursor;
    if (cursor === null) return { data, gas_budget: page.gas_budget };
  }
}

/**
 * Expects chain, journal and budget to agree: one transaction for each operation and no other, one log for each request, and every wei
 * that the signer has lost in the books.
 *
 * @param foreign - how many transactions another program has sent with the signer's key.
 */
export async function expectBooksToBalance(
  description: SandboxDescription,
  credential: string,
  requests: readonly RelayedRequest[],
  foreign = 0,
): Promise<AnsweredOperation[]> {
  const client = createPublicClient({
    transport: http(description.urls.rpc, { retryCount: 0 }),
    cacheTime: 0,
  });
  const { data, gas_budget } = await readTransactions(description, credential);
  const signer = await operatorOf(description, credential);
  const mined = await minedBy(signer, client);

  const sequences = data.map(({ sequence }) => sequence);
  expect(sequences).toEqual(sequences.map((_, index) => index + 1));
  const settled = data.filter(({ block_hash }) => block_hash !== null);
  const hashes = data.flatMap((operation) => operation.hashes);
  const ours = mined.filter(({ hash }) => hashes.some((signed) => signed.hash === hash));
  const told = hashes.filter(({ outcome }) => outcome === "succeeded" || outcome === "reverted");
  expect(ours.map(({ hash }) => hash)).toEqual(
    told.toSorted((left, right) => (left.nonce ?? 0) - (right.nonce ?? 0)).map(({ hash }) => hash),
  );
  expect(settled.every(({ hash }) => told.some((signed) => signed.hash === hash))).toBe(true);
  expect(mined).toHaveLength(ours.length + foreign);

  const sum = (amounts: (string | null)[]) => amounts.reduce((total, wei) => total + BigInt(wei ?? 0), 0n);
  const { limit_wei, available_wei, reserved_wei, spent_wei } = gas_budget;
  expect(sum([available_wei, reserved_wei, spent_wei])).toBe(BigInt(limit_wei));
  expect(sum(data.map((operation) => operation.reserved_wei))).toBe(BigInt(reserved_wei));
  expect(sum(data.map(({ cost_wei }) => cost_wei))).toBe(BigInt(spent_wei));
  const foreignCosts = mined.filter((one) => !ours.includes(one)).map(({ cost }) => cost.toString());
  const balance = await client.getBalance({ address: signer });
  expect(initialBalances.operatorWei - balance).toBe(BigInt(spent_wei) + sum(foreignCosts));

  for (const { commitment, kind } of requests) {
    const logs = await client.getContractEvents({
      address: description.contracts.registrar,
      abi: purchaseRegistrarAbi,
      eventName: kind === "offer" ? "PurchaseOffered" : "RefundCollected",
      args: { id: commitment },
      fromBlock: 0n,
    });
    expect(logs).toHaveLength(1);
    const hash = logs[0]?.transactionHash;
    expect(settled.filter((operation) => operation.kind === kind && operation.hash === hash)).toHaveLength(1);
  }
  return data;
}

/** Expects the store to hold one record, one event and one stored answer of each request, the answer that was given. */
export async function expectOneRecordEach(
  store: Store,
  done: readonly { request: RelayedRequest; answer: ExactAnswer }[],
): Promise<void> {
  const events = (await store.list("events", {})).map(({ value }) =>
    eventSchema.parse(JSON.parse(value.body)),
  );
  const refunds = await store.list("refunds", {});
  const uses = await store.list("used_transactions", {});
  for (const { request, answer } of done) {
    const { purchase: id, kind } = request;
    const { hash, operation_id } = operationIn(answer);
    const purchase = (await store.get("purchases", id))?.value;
    const mine = (type: string) =>
      events.filter((event) => event.type === type && event.data.purchase_id === id);
    expect(mine("purchase.activated")).toHaveLength(1);
    if (kind === "offer") expect(purchase).toMatchObject({ status: "active", route: "registrar_offer" });
    else {
      expect(purchase?.status).toBe("refunded");
      expect(mine("refund.due")).toHaveLength(1);
      expect(mine("refund.collected")).toHaveLength(1);
      const records = refunds.filter(({ value }) => value.purchase_id === id);
      expect(records.map(({ value }) => [value.status, value.operation_id, value.transaction_hash])).toEqual([
        ["collected", operation_id, hash],
      ]);
    }
    const step = kind === "offer" ? "offer" : "refund";
    expect(uses.filter(({ value }) => value.step === step && value.subject === id)).toMatchObject([
      { key: hash },
    ]);
    const kept = (await store.list("idempotency", {})).filter(({ key }) => key.endsWith(`\n${request.key}`));
    expect(kept.map(({ value }) => [value.state, value.response])).toEqual([
      ["done", { status: answer.status, body: answer.text }],
    ]);
  }
}

const eventSchema = z.looseObject({
  type: z.string(),
  data: z.looseObject({ purchase_id: z.string().optional() }),
});

async function operatorOf({ urls, accounts }: SandboxDescription, credential: string): Promise<Address> {
  const url = `${urls.api}/v1/routing/programs/${accounts[0]?.program}`;
  const response = await fetch(url, { headers: { Authorization: `Bearer ${credential}` } });
  return getAddress(programSchema.parse(await response.json()).keys.registrar.address);
}

/** Every transaction that a wallet has on the chain, in order, and what each cost. */
async function minedBy(signer: Address, client: ReturnType<typeof createPublicClient>) {
  const found: { hash: Hex; cost: bigint }[] = [];
  const head = await client.getBlockNumber();
  const numbers = Array.from({ length: Number(head) + 1 }, (_, number) => BigInt(number));
  for (const blockNumber of numbers) {
    const { transactions } = await client.getBlock({ blockNumber, includeTransactions: true });
    for (const { from, hash } of transactions) {
      if (getAddress(from) !== signer) continue;
      const { gasUsed, effectiveGasPrice } = await client.getTransactionReceipt({ hash });
      found.push({ hash, cost: gasUsed * effectiveGasPrice });
    }
  }
  return found;
}
