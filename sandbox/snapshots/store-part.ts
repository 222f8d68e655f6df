import { z } from "zod";
import { TextEncoder } from "../../protocol/globals.ts";
import { canonicalJson, hashJson, sha256Hex } from "../../protocol/values/canonical-json.ts";
import { newestTime } from "../../server/store/records.ts";
import type { Store, StoreImage } from "../../server/store/store.ts";
import type { Part, PartStates } from "../lib/part.ts";
import { withoutPorts } from "./fingerprint.ts";

const storeName = "store";

/** The image of a store in a snapshot file: its chain is there as a whole. */
const storeImage = z.custom<StoreImage>((value) => typeof value === "object" && value !== null);
const savedImage: z.ZodType<StoreImage> = z.codec(storeImage, storeImage, {
  decode: (image) => image,
  encode: ({ chain: _, ...image }) => image,
});

/** Everything that is stored: the records of the API, the relayer's journal and the key ring, and with them what happened on the chain. */
export function storePart(store: Store): Part<StoreImage> {
  return {
    name: storeName,
    schema: savedImage,
    capture: async () => await store.export(),
    restore: async (image) => await store.import(image),
    digest: digestStore,
  };
}

/** Returns the newest time that a stored record names as past, in Unix seconds; 0 without a store's part or a time. */
export function newestStoredTime(states: PartStates): number {
  let newest = 0;
  for (const [{ name }, state] of states)
    if (name === storeName)
      for (const records of Object.values(storeImage.parse(state).collections))
        for (const { value } of Object.values(records)) newest = Math.max(newest, newestTime(value));
  return newest;
}

function digestStore({ counters, collections }: StoreImage) {
  const { operations = {}, attempts = {} } = collections;
  const journal = [...Object.values(operations), ...Object.values(attempts)].map(({ value }) => value);
  // How often a record was written does not count: looks at the chain come when its heads are announced.
  const values = Object.entries(collections).map(([name, records]) => [
    name,
    Object.entries(records).map(([key, { value }]) => [key, value]),
  ]);
  const stored = withoutPorts(canonicalJson({ counters, collections: Object.fromEntries(values) }));
  return { journal: hashJson(journal), store: sha256Hex(new TextEncoder().encode(stored)) };
}
