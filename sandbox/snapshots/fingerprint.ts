import { type Hex, keccak256, zeroAddress } from "viem";
import { z } from "zod";
import { hashJson } from "../../protocol/values/canonical-json.ts";
import { hashSchema } from "../../server/schemas/primitives.ts";
import type { ChainNode } from "../chain/start-chain.ts";
import { captureParts, digestParts, type Part } from "../lib/part.ts";

/** The values that equal runs have in common: digests of the newest block, of the accounts and of all stored records. */
export interface Fingerprint {
  /** SHA-256 over all other fields: the one value to compare in CI. */
  digest: Hex;
  epoch: Hex;
  /** The newest block; `state_root` includes what calls such as `anvil_setBalance` have changed since. */
  block: { number: number; hash: Hex; state_root: Hex };
  /** SHA-256 over the relayer's journal. */
  journal: Hex;
  /** SHA-256 over everything that is stored, the journal included. */
  store: Hex;
  /** The digests of parts that were added with the option `parts`, by name; absent when there are none. */
  parts?: { [name: string]: Hex };
}

/** The schema of a fingerprint. */
export const fingerprintSchema: z.ZodType<Fingerprint> = z
  .object({
    digest: hashSchema.meta({ description: "SHA-256 over all of the other fields." }),
    epoch: hashSchema,
    block: z.object({ number: z.int(), hash: hashSchema, state_root: hashSchema }).meta({
      description:
        "The newest block. state_root includes what calls such as anvil_setBalance have changed since.",
    }),
    journal: hashSchema.meta({ description: "SHA-256 over the relayer's journal." }),
    store: hashSchema.meta({ description: "SHA-256 over all stored records." }),
    parts: z
      .record(z.string(), hashSchema)
      .exactOptional()
      .meta({ description: "The digests of the other parts, by name." }),
  })
  .meta({ id: "Fingerprint" });

/**
 * The digests of the parts that have one. Only these two have names here, because scenario files and snapshot files hold them as fields
 * of the fingerprint; the digests of any other part come under `parts`.
 */
const digestsSchema = z.object({ journal: hashSchema, store: hashSchema }).catchall(hashSchema);

/** A URL on this machine; its port is another one in every run. */
const loopbackUrl = /http:\/\/127\.0\.0\.1:\d+/g;

/** A compact JWS (RFC 7515) of a delivery receipt. */
const receiptSignature = /eyJ[\w-]+\.eyJ[\w-]+\.[\w-]+/g;

/**
 * Takes the fingerprint of a sandbox.
 *
 * The kernel chooses other ports in every run. So the URLs that are stored count without their ports, and the signatures
 * over such URLs do not count; what they sign does.
 */
export async function takeFingerprint(chain: ChainNode, parts: readonly Part[]): Promise<Fingerprint> {
  const counting = parts.filter((part) => part.digest !== undefined);
  const readLatest = async () => await chain.client.getBlock({ blockTag: "latest" });
  const readAll = async (block: Awaited<ReturnType<typeof readLatest>>) => {
    const state_root = chain.isOwn ? await readStateRoot(chain.client) : block.stateRoot;
    return { block, state_root, digests: digestsSchema.parse(digestParts(await captureParts(counting))) };
  };
  let read = await readAll(await readLatest());
  // A block that was made meanwhile: block and accounts would be those of no moment.
  for (let now = await readLatest(); now.hash !== read.block.hash; now = await readLatest())
    read = await readAll(now);
  const { state_root } = read;
  const { number, hash } = read.block;
  const { journal, store, ...added } = read.digests;
  const counted = {
    epoch: chain.deployment.epoch,
    block: { number: Number(number), hash, state_root },
    journal,
    store,
    ...(Object.keys(added).length === 0 ? {} : { parts: added }),
  };
  return { digest: hashJson(counted), ...counted };
}

/** Reads the root of all accounts as they are now: calls such as `anvil_setBalance` change them without a block. A proof begins with the root. */
async function readStateRoot(client: ChainNode["client"]): Promise<Hex> {
  const { accountProof } = await client.getProof({ address: zeroAddress, storageKeys: [] });
  return keccak256(accountProof[0] ?? "0x");
}

/** Returns a text without the parts that differ between equal runs: the ports of URLs on this machine, and signatures over such URLs. */
export function withoutPorts(text: string): string {
  return text.replaceAll(loopbackUrl, "{url}").replaceAll(receiptSignature, "{signature}");
}
