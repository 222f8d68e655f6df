import {
  type Address,
  getAddress,
  type Hex,
  hexToBigInt,
  isAddress,
  numberToHex,
  pad,
  slice,
  zeroAddress,
} from "viem";
import { z } from "zod";
import type { ObservedTransaction } from "../../../protocol/binding/observed-transaction.ts";
import { hashId } from "../../../protocol/values/id.ts";
import { sameAddress } from "../../../protocol/values/same-address.ts";
import type { Deployment } from "../../../server/chain/deployment.ts";
import type { Services } from "../../../server/http/services.ts";
import { findByCommitment } from "../../../server/store/records/find.ts";
import type { ChainClient } from "../../chain/client/chain-client.ts";
import type { AddressLabels } from "../address-labels.ts";
import type { StateChanges } from "../explanation.ts";
import { allCalls, type TracedCall } from "./call-trace.ts";
import {
  type MappingKey,
  type MappingKeys,
  nameSlots,
  readPart,
  type SlotPart,
  type StorageLayout,
} from "./name-slots.ts";
import { storageLayouts } from "./storage-layout.generated.ts";

/** The sources of a transaction's keys. */
interface KeySources {
  observed: ObservedTransaction;
  calls: readonly TracedCall[];
  changed: readonly ChangedSlot[];
}

/** The most words and addresses that are tried as keys: each address of a mapping of mappings is tried with every other key. */
const mostKeys = { words: 512, addresses: 128 };

/** Collects the keys that a transaction can have used: words of its calls, slots and logs, and what the sandbox knows by name. */
async function collectKeys(
  sources: KeySources,
  { services, labels }: { services: Services; labels: AddressLabels },
): Promise<MappingKeys> {
  const { deployment, store } = services;
  const words = [...wordsOf(sources)].slice(0, mostKeys.words);
  const programs = deployment.programs.map(({ id }) => ({ word: hashId(id), name: id }));
  const named = new Map<Hex, string>(programs.map(({ word, name }) => [word, name]));
  let fundings = 0;
  for (const { id: program } of deployment.programs)
    for (const { key } of await store.list("merchants", { program })) {
      named.set(hashId(key), key);
      fundings += 1;
    }
  for (const word of words)
    if (!named.has(word)) named.set(word, (await findByCommitment(store, word))?.key ?? word);
  const addresses = new Set<Address>([
    zeroAddress,
    ...sources.changed.map(({ address }) => address),
    ...sources.calls.flatMap(({ from, to }) => [from, to ?? from]),
    ...words.flatMap((word) => (isAddressWord(word) ? [slice(word, 12)] : [])),
  ]);
  return {
    bytes32: [...named].map(([word, name]) => ({ word, name })),
    outerBytes32: programs,
    address: uniqueKeys([...addresses].slice(0, mostKeys.addresses), labels),
    // Fundings are numbered from 1; a merchant that did not enroll has none.
    number: Array.from({ length: fundings + 1 }, (_, index) => ({
      word: numberToHex(index + 1, { size: 32 }),
      name: String(index + 1),
    })),
  };
}

function uniqueKeys(addresses: readonly Address[], labels: AddressLabels): MappingKey[] {
  const keys = new Map<Hex, MappingKey>();
  for (const address of addresses) {
    const word = pad(address, { size: 32 }).toLowerCase() as Hex;
    keys.set(word, { word, name: labels.nameOf(address) });
  }
  return [...keys.values()];
}

function isAddressWord(word: Hex): boolean {
  const value = hexToBigInt(word);
  return value > 0xffff_ffffn && value < 1n << 160n;
}

function wordsOf({ observed, calls, changed }: KeySources): Set<Hex> {
  const logs = observed.receipt?.logs ?? [];
  return new Set([
    ...calls.flatMap(({ input }) => split(`0x${input.slice(10)}`)),
    ...changed.flatMap(({ before, after }) => [before, after]),
    ...logs.flatMap(({ topics, data }) => [...topics, ...split(data)]),
  ]);
}

/** The most words that are tried of one call or log: the code of a new contract has no keys. */
const mostWords = 128;

function split(data: Hex): Hex[] {
  const words = data.slice(2).match(/.{64}/g) ?? [];
  return words.slice(0, mostWords).map((word): Hex => `0x${word.toLowerCase()}`);
}

const word = z
  .custom<Hex>((value) => typeof value === "string" && /^0x[0-9a-fA-F]{64}$/.test(value))
  .transform((hex): Hex => `0x${hex.slice(2).toLowerCase()}`);
const accounts = z.record(
  z.custom<Address>((value) => typeof value === "string" && isAddress(value, { strict: false })),
  z.object({
    balance: z.string().optional(),
    storage: z.record(z.string(), word).default({}),
  }),
);

/** The answer of the tracer `prestateTracer`: the changed values before and after. A slot without a value is zero. */
const prestateDiff = z.object({ pre: accounts, post: accounts });

type Diff = z.output<typeof prestateDiff>;

const zeroWord: Hex = `0x${"00".repeat(32)}`;

/** The sources of the changes of a transaction. */
export interface ChangeSources {
  services: Services;
  client: ChainClient;
  labels: AddressLabels;
  /** Whether the registrar contract is the sandbox's own, whose storage has names. */
  isOwnRegistrar: boolean;
}

/**
 * Names the balances and the slots that a transaction has changed, or a call would change.
 *
 * @param answer - of the node's tracer `prestateTracer`.
 * @returns null where the node does not trace.
 */
export async function readChanges(
  answer: unknown,
  observed: ObservedTransaction,
  trace: TracedCall | null,
  { services, labels, isOwnRegistrar }: ChangeSources,
): Promise<StateChanges | null> {
  const { data: diff } = prestateDiff.safeParse(answer);
  if (diff === undefined) return null;
  const { deployment } = services;
  const changed = slotsOf(diff);
  const calls = trace === null ? [] : allCalls(trace);
  const keys = await collectKeys({ observed, calls, changed }, { services, labels });
  const named = nameChanges(changed, keys, (address) => layoutOf(address, deployment, isOwnRegistrar));
  return {
    balances: [...etherChanges(diff, labels), ...tokenChanges(named, deployment, labels)],
    storage: named.flatMap((slot) => viewSlot(slot, labels)),
  };
}

/** A slot that has changed. */
interface ChangedSlot {
  address: Address;
  slot: Hex;
  before: Hex;
  after: Hex;
}

function slotsOf({ pre, post }: Diff): ChangedSlot[] {
  const addresses = [...new Set([...Object.keys(pre), ...Object.keys(post)])];
  return addresses.flatMap((key) => {
    const [before, after] = [pre, post].map((side) => side[key as Address]?.storage ?? {});
    const slots = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])].toSorted();
    return slots
      .map((slot) => ({
        address: getAddress(key),
        slot: slot.toLowerCase() as Hex,
        before: before?.[slot] ?? zeroWord,
        after: after?.[slot] ?? zeroWord,
      }))
      .filter((sides) => sides.before !== sides.after);
  });
}

/** The layout of a contract; null for one whose storage the sandbox does not know, such as a registrar contract of the user. */
function layoutOf(address: Address, deployment: Deployment, isOwnRegistrar: boolean): StorageLayout | null {
  if (sameAddress(address, deployment.token.address)) return storageLayouts.TestUSDC;
  const isRegistrar = sameAddress(address, deployment.registrar.address);
  return isRegistrar && isOwnRegistrar ? storageLayouts.PurchaseRegistrar : null;
}

/** A changed slot with its parts; none where its name is not known. */
type NamedSlot = ChangedSlot & { parts: readonly SlotPart[] };

function nameChanges(
  changed: readonly ChangedSlot[],
  keys: MappingKeys,
  layoutAt: (address: Address) => StorageLayout | null,
): NamedSlot[] {
  const addresses = [...new Set(changed.map(({ address }) => address))];
  return addresses.flatMap((address) => {
    const own = changed.filter((slot) => slot.address === address);
    const layout = layoutAt(address);
    const parts = layout === null ? null : nameSlots(layout, new Set(own.map(({ slot }) => slot)), keys);
    return own.map((slot) => ({ ...slot, parts: parts?.get(slot.slot) ?? [] }));
  });
}

/** Shows the parts of a slot that have changed, or the whole slot where its name is not known. */
function viewSlot(
  { address, slot, before, after, parts }: NamedSlot,
  labels: AddressLabels,
): StateChanges["storage"] {
  const common = { address, contract: labels.nameOf(address), slot };
  if (parts.length === 0) return [{ ...common, name: null, type: null, before, after }];
  return parts
    .map((part) => ({
      ...common,
      name: part.name,
      type: part.type,
      before: readPart(before, part),
      after: readPart(after, part),
    }))
    .filter((part) => part.before !== part.after);
}

function etherChanges({ pre, post }: Diff, labels: AddressLabels): StateChanges["balances"] {
  return Object.entries(post).flatMap(([key, { balance }]) => {
    const address = getAddress(key);
    const before = BigInt(pre[key as Address]?.balance ?? 0);
    const after = BigInt(balance ?? before);
    return after === before ? [] : [viewBalance("ETH", address, { before, after }, labels)];
  });
}

/** The highest bit of a balance of the token says that the account is blocked. */
const balanceBits = (1n << 255n) - 1n;

function tokenChanges(
  named: readonly NamedSlot[],
  { token }: Deployment,
  labels: AddressLabels,
): StateChanges["balances"] {
  return named.flatMap(({ address, before, after, parts: [part] }) => {
    const [holder] = part?.name.startsWith("_balances[") === true ? part.keys : [];
    if (!sameAddress(address, token.address) || holder === undefined) return [];
    const sides = { before: BigInt(before) & balanceBits, after: BigInt(after) & balanceBits };
    return sides.before === sides.after
      ? []
      : [viewBalance(token.symbol, getAddress(slice(holder.word, 12)), sides, labels)];
  });
}

function viewBalance(
  asset: string,
  address: Address,
  { before, after }: { before: bigint; after: bigint },
  labels: AddressLabels,
): StateChanges["balances"][number] {
  return {
    asset,
    address,
    name: labels.view(address).name,
    before: String(before),
    after: String(after),
    change: String(after - before),
  };
}
