import { z } from "zod";
import { checksumAddressSchema, hashSchema } from "../../../server/schemas/primitives.ts";

const key = { key_id: z.string(), public_key: z.string(), private_key: z.string() };
const account = z.object({ id: z.string(), program: z.string(), key: z.string() });
const time = z.iso.datetime({ precision: 3 });

/** The schema of `sandbox.json`. */
const descriptionSchema = z
  .object({
    version: z.literal(1),
    seed: z.string(),
    mode: z.enum(["live", "deterministic"]),
    pid: z.int(),
    urls: z.object({ api: z.url(), docs: z.url(), rpc: z.url(), control: z.url() }),
    chain: z.object({ chain_id: z.int(), epoch: hashSchema }),
    contracts: z.object({
      token: checksumAddressSchema,
      registrar: checksumAddressSchema,
      funding_source: checksumAddressSchema,
    }),
    accounts: z.array(account).meta({ description: "One account for each program." }),
    wallets: z.record(z.string(), z.object({ address: checksumAddressSchema, private_key: hashSchema })),
    reviewer: z.object(key).meta({ description: "The reviewer of the first program." }),
    reviewers: z.array(z.object({ program: z.string(), ...key })),
    receiver: z.object({ url: z.url(), hmac_secret: z.string() }),
  })
  .meta({
    id: "SandboxDescription",
    description: "URLs, addresses and test keys: the content of `sandbox.json`.",
  });

/** The schema of a lease as it is answered. */
export const leaseSchema = z
  .object({
    id: z.string(),
    sandbox: descriptionSchema,
    expires_at: time.meta({ description: "The end of the lease, by the wall clock." }),
  })
  .meta({ id: "Lease" });

const count = z.int().min(0);

/** The schema of the state of a pool. */
export const poolStatusSchema = z
  .object({
    pid: z.int(),
    size: count,
    free: count,
    leased: count,
    preparing: count,
    waiting: count,
    limits: z.object({
      lease_seconds: count,
      most_lease_seconds: count,
      wait_seconds: z.number().min(0),
    }),
    metrics: z
      .object({
        leases: count.meta({ description: "Leases that have begun." }),
        ended: count.meta({ description: "Leases that were ended before they expired." }),
        expired: count.meta({ description: "Leases that expired." }),
        restored: count.meta({ description: "Resets of leased sandboxes." }),
        refused: count.meta({ description: "Requests for a lease that got `pool_exhausted`." }),
        disconnected: count.meta({
          description: "Requests for a lease whose client disconnected before the lease began.",
        }),
        failed_starts: count.meta({ description: "Starts of sandboxes that failed and were repeated." }),
      })
      .meta({ description: "Counters since the start of the pool." }),
    leases: z.array(z.object({ id: z.string(), expires_at: time })),
  })
  .meta({ id: "PoolStatus" });
