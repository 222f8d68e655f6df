import { type Hex, isAddress, isHash } from "viem";
import type { RelayOperationRecord } from "../../relayer/journal/relay-operation.ts";
import type { Services } from "../../server/http/services.ts";
import { findByCommitment } from "../../server/store/records/find.ts";
import { assertKnown } from "../../server/store/records/status-after-reorg.ts";
import { merchantStates, purchaseStates } from "../given/states.ts";
import { readPage } from "./reads/page.ts";
import { findBlockNumber, readBlockView } from "./reads/read-blocks.ts";
import { findPurchaseId } from "./reads/read-relay-operations.ts";
import type { Sources } from "./sources.ts";
import type { SearchResult } from "./views.ts";

/**
 * Finds what an id, a hash, an address or a block number belongs to. `explain` and a hash find the explanation of a transaction, and `given` the
 * states that can be created. All of them are lower-case, and found in either case.
 */
export async function search(given: string, sources: Sources): Promise<SearchResult[]> {
  const [command, ...words] = given.trim().toLowerCase().split(/\s+/);
  if (command === "given") return findStates(words);
  const wanted = command === "explain" ? words.join(" ") : [command, ...words].join(" ");
  // A transaction that is not on the chain has an explanation, too.
  if (command === "explain" && isHash(wanted))
    return [{ type: "transaction", id: wanted, title: "Explain the transaction", purchase_id: null }];
  if (/^\d{1,15}$/.test(wanted)) return await findBlock(BigInt(wanted), sources);
  if (isAddress(wanted, { strict: false })) return findAccount(wanted, sources);
  if (isHash(wanted)) return await findHash(wanted, sources);
  return findRequest(wanted, sources) ?? (await findId(wanted, sources));
}

/** Finds the states of purchases, or of merchants, whose names begin with a word, as in `given paid` or `given merchant funded`. */
function findStates(words: readonly string[]): SearchResult[] {
  const kind = words[0] === "merchant" ? "merchant" : "purchase";
  const beginning = words[words[0] === kind ? 1 : 0] ?? "";
  const states: readonly string[] = kind === "merchant" ? merchantStates : purchaseStates;
  return states
    .filter((state) => state.startsWith(beginning))
    .map((state) => ({
      type: "given",
      id: `${kind} ${state}`,
      title: `Create a ${kind} in the state ${state}`,
      purchase_id: null,
    }));
}

/** Finds a request that the log still has. */
function findRequest(id: string, { requests }: Sources): SearchResult[] | null {
  const request = requests.newest().find(({ request_id }) => request_id === id);
  if (request === undefined) return null;
  const { operation, method, path, status } = request;
  return [
    {
      type: "request",
      id,
      title: `${operation ?? `${method} ${path}`}, ${status ?? "lost"}`,
      purchase_id: null,
    },
  ];
}

async function findBlock(number: bigint, sources: Sources): Promise<SearchResult[]> {
  const block = await readBlockView(number, sources);
  if (block === null) return [];
  const count = block.transactions.length;
  const title = `Block ${number} with ${count} ${count === 1 ? "transaction" : "transactions"}`;
  return [{ type: "block", id: String(number), title, purchase_id: null }];
}

function findAccount(address: Hex, { labels }: Sources): SearchResult[] {
  const { name, address: id } = labels.view(address);
  return [{ type: "account", id, title: name ?? "an unknown account", purchase_id: null }];
}

async function findHash(text: string, sources: Sources): Promise<SearchResult[]> {
  const { services, node } = sources;
  const hash: Hex = `0x${text.slice(2)}`;
  const purchase = await findByCommitment(services.store, hash);
  if (purchase !== undefined)
    return [
      {
        type: "purchase",
        id: purchase.key,
        title: "The commitment of a purchase",
        purchase_id: purchase.key,
      },
    ];
  const signed = { cursor: undefined, keep: (attempt: RelayOperationRecord) => hasSigned(attempt, hash) };
  const pages = await Promise.all([
    readPage(services.store, "operations", {}, signed),
    readPage(services.store, "attempts", {}, signed),
  ]);
  const attempts = pages.flatMap(({ data }) => data);
  await assertFoundKnown(
    attempts.map(({ value }) => value),
    services,
  );
  const found = await Promise.all(
    attempts.map(
      async ({ value }): Promise<SearchResult> => ({
        type: "operation",
        id: value.operation_id,
        title: `A transaction of the relayer's ${value.kind}, ${value.status}`,
        purchase_id: await findPurchaseId(value, services.store),
      }),
    ),
  );
  const receipt = await node.request<{
    Method: "eth_getTransactionReceipt";
    Parameters: [Hex];
    ReturnType: { blockNumber: Hex } | null;
  }>({
    method: "eth_getTransactionReceipt",
    params: [hash],
  });
  if (receipt === null) {
    const number = await findBlockNumber(hash, sources);
    return number === null ? found : await findBlock(number, sources);
  }
  const block = await readBlockView(BigInt(receipt.blockNumber), sources);
  const transaction = block?.transactions.find((one) => one.hash === hash);
  if (transaction === undefined) return found;
  const what = transaction.function ?? "a transaction";
  const title = `${what} by ${transaction.from.name ?? transaction.from.address} in block ${block?.number}`;
  return [{ type: "transaction", id: hash, title, purchase_id: transaction.about[0] ?? null }, ...found];
}

/** @throws ChainUnavailableError when one of them is not known to be as the journal has it. */
async function assertFoundKnown(
  found: readonly RelayOperationRecord[],
  { relayer }: Services,
): Promise<void> {
  const ids = new Set(found.map(({ operation_id }) => operation_id));
  assertKnown((await relayer.unknownOutcomes()).filter(({ operationId }) => ids.has(operationId)));
}

function hasSigned({ transactions }: RelayOperationRecord, hash: Hex): boolean {
  return transactions.some((signed) => signed.hash === hash);
}

async function findId(id: string, { services }: Sources): Promise<SearchResult[]> {
  const { store } = services;
  const [purchase, merchant, operation, event, claim, decision, refund] = await Promise.all([
    store.get("purchases", id),
    store.get("merchants", id),
    store.get("operations", id),
    store.get("events", id),
    store.get("claims", id),
    store.get("decisions", id),
    store.get("refunds", id),
  ]);
  if (purchase)
    return [{ type: "purchase", id, title: `A purchase, ${purchase.value.status}`, purchase_id: id }];
  if (merchant) return [{ type: "merchant", id, title: merchant.value.name, purchase_id: null }];
  if (operation) {
    await assertFoundKnown([operation.value], services);
    const { kind, status } = operation.value;
    const purchase_id = await findPurchaseId(operation.value, store);
    return [{ type: "operation", id, title: `The relayer's ${kind}, ${status}`, purchase_id }];
  }
  if (event) {
    const { type, subject } = event.value;
    return [{ type: "event", id, title: type, purchase_id: subject.startsWith("pur_") ? subject : null }];
  }
  const owner = claim?.value.purchase_id ?? decision?.value.statement.purchase ?? refund?.value.purchase_id;
  const what = claim ? "claim" : decision ? "decision" : "refund";
  return owner === undefined
    ? []
    : [{ type: "purchase", id: owner, title: `The purchase of this ${what}`, purchase_id: owner }];
}
