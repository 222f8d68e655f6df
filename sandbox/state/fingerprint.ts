import type { Hex } from "viem";
import { canonicalJson, hashJson, sha256Hex } from "../../protocol/canonical-json.ts";
import type { Store } from "../../server/store/store.ts";
import type { Chain } from "../chain/genesis/start-chain.ts";

/** What two equal runs have in common: the chain's tip and everything that is stored. */
export interface Fingerprint {
  /** SHA-256 over all of the rest: the one value that a CI run pins. */
  digest: Hex;
  epoch: Hex;
  block: { number: number; hash: Hex; state_root: Hex };
  /** SHA-256 over the relayer's journal. */
  journal: Hex;
  /** SHA-256 over everything that is stored, the journal included. */
  store: Hex;
}

/** A URL on this machine; its port is another one in every run. */
const loopbackUrl = /http:\/\/127\.0\.0\.1:\d+/g;

/** A compact JWS (RFC 7515) of a delivery receipt. */
const receiptSignature = /eyJ[\w-]+\.eyJ[\w-]+\.[\w-]+/g;

/**
 * Takes the fingerprint of a sandbox.
 *
 * The kernel chooses ports anew in every run. So the URLs that are stored count without their ports, and the signatures
 * over such URLs do not count; what they sign does.
 */
export async function takeFingerprint(chain: Chain, store: Store): Promise<Fingerprint> {
  const { number, hash, stateRoot } = await chain.client.getBlock({ blockTag: "latest" });
  const journal = [...(await store.list("operations", {})), ...(await store.list("attempts", {}))];
  const { counters, collections } = await store.export();
  // How often a record was written does not count: looks at the chain come when its heads are announced.
  const values = Object.entries(collections).map(([name, records]) => [
    name,
    Object.entries(records).map(([key, { value }]) => [key, value]),
  ]);
  const stored = withoutPorts(canonicalJson({ counters, collections: Object.fromEntries(values) }));
  const parts = {
    epoch: chain.deployment.epoch,
    block: { number: Number(number), hash, state_root: stateRoot },
    journal: hashJson(journal.map(({ value }) => value)),
    store: sha256Hex(new TextEncoder().encode(stored)),
  };
  return { digest: hashJson(parts), ...parts };
}

/** A text as it counts between equal runs: URLs on this machine without their ports, and signatures over such URLs not at all. */
export function withoutPorts(text: string): string {
  return text.replaceAll(loopbackUrl, "{url}").replaceAll(receiptSignature, "{signature}");
}
