import { type Address, type Hex, hexToBigInt, numberToHex, pad, slice, zeroAddress } from "viem";
import type { ObservedTransaction } from "../../../protocol/binding/observed-transaction.ts";
import { hashId } from "../../../protocol/values/id.ts";
import type { Services } from "../../../server/services.ts";
import { findByCommitment } from "../../../server/store/records/find.ts";
import type { AddressLabels } from "../../explorer/address-labels.ts";
import type { MappingKey, MappingKeys } from "./name-slots.ts";
import { allCalls, type TracedCall } from "./read-call-trace.ts";

/** The sources of a transaction's keys. */
interface KeySources {
  observed: ObservedTransaction;
  trace: TracedCall | null;
  /** The accounts whose state has changed, and the values of the slots before and after. */
  accounts: readonly Address[];
  values: readonly Hex[];
}

/** The most words and addresses that are tried as keys: each address of a mapping of mappings is tried with every other key. */
const mostKeys = { words: 512, addresses: 128 };

/** Collects the keys that a transaction can have used: words of its calls, slots and logs, and what the sandbox knows by name. */
export async function collectKeys(
  sources: KeySources,
  { services, labels }: { services: Services; labels: AddressLabels },
): Promise<MappingKeys> {
  const { deployment, store } = services;
  const words = take(wordsOf(sources), mostKeys.words);
  const programs = deployment.programs.map(({ id }) => ({ word: hashId(id), name: id }));
  const named = new Map<Hex, string>(programs.map(({ word, name }) => [word, name]));
  let fundings = 0;
  for (const { id: program } of deployment.programs)
    for (const { key } of await store.list("merchants", { program })) {
      named.set(hashId(key), key);
      fundings += 1;
    }
  for (const word of words) {
    const purchase = named.has(word) ? undefined : await findByCommitment(store, word);
    if (purchase !== undefined) named.set(word, purchase.key);
  }
  const addresses = new Set<Address>([
    zeroAddress,
    ...sources.accounts,
    ...(sources.trace === null ? [] : allCalls(sources.trace).flatMap(({ from, to }) => [from, to ?? from])),
    ...words.flatMap((word) => (isAddressWord(word) ? [slice(word, 12)] : [])),
  ]);
  return {
    bytes32: [...new Set([...named.keys(), ...words])].map((word) => ({
      word,
      name: named.get(word) ?? word,
    })),
    outerBytes32: programs,
    address: uniqueKeys(take(addresses, mostKeys.addresses), labels),
    // Fundings are numbered from 1; a merchant that did not enroll has none.
    number: Array.from({ length: fundings + 1 }, (_, index) => ({
      word: numberToHex(index + 1, { size: 32 }),
      name: String(index + 1),
    })),
  };
}

function uniqueKeys(addresses: Iterable<Address>, labels: AddressLabels): MappingKey[] {
  const keys = new Map<Hex, MappingKey>();
  for (const address of addresses) {
    const word = pad(address, { size: 32 }).toLowerCase() as Hex;
    keys.set(word, { word, name: labels.nameOf(address) });
  }
  return [...keys.values()];
}

function take<T>(values: Iterable<T>, most: number): T[] {
  return [...values].slice(0, most);
}

function isAddressWord(word: Hex): boolean {
  const value = hexToBigInt(word);
  return value > 0xffff_ffffn && value < 1n << 160n;
}

function wordsOf({ observed, trace, values }: KeySources): Set<Hex> {
  const calls = trace === null ? [] : allCalls(trace);
  const logs = observed.receipt?.logs ?? [];
  return new Set([
    ...calls.flatMap(({ input }) => split(`0x${input.slice(10)}`)),
    ...values,
    ...logs.flatMap(({ topics, data }) => [...topics, ...split(data)]),
  ]);
}

/** The most words that are tried of one call or log: the code of a new contract has no keys. */
const mostWords = 128;

function split(data: Hex): Hex[] {
  const words = data.slice(2).match(/.{64}/g) ?? [];
  return words.slice(0, mostWords).map((word): Hex => `0x${word.toLowerCase()}`);
}
