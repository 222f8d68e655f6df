import { z } from "zod";
import { AbortController } from "../../../protocol/globals.ts";
import type { ServedOperation } from "../../../sandbox/lib/control/operation.ts";
import { leaseSchema, poolStatusSchema } from "./pool-answers.ts";
import type { PoolCode } from "./pool-codes.ts";
import { poolLimits } from "./pool-limits.ts";
import type { ServedPool } from "./served-pool.ts";
import { onUnread, sendInTwoWrites } from "./unread-response.ts";

const { mostLeaseSeconds } = poolLimits;

/** The body of a request that begins or renews a lease. */
const lengthBody = z
  .strictObject({
    seconds: z.int().min(1).max(mostLeaseSeconds).optional().meta({
      description:
        "The duration of the lease, in seconds; by default the one that the pool was started with.",
    }),
  })
  .meta({ id: "LeaseLength" });

/** One operation of a pool; the table of docs/pool.md comes from it, too. */
export interface PoolOperation extends ServedOperation<{ pool: ServedPool }, typeof lengthBody> {
  errors: readonly PoolCode[];
}

const id = z.string().min(1).meta({ description: "The id of a lease.", example: "lse_1" });

/** Every operation of a pool, in the order of its documentation. */
export const poolOperations: readonly PoolOperation[] = [
  {
    id: "createLease",
    method: "post",
    path: "/leases",
    tag: "Leases",
    summary: "Leases a sandbox.",
    description:
      "The response has `id`, `sandbox` (the content of `sandbox.json`) and `expires_at`. If no sandbox is free, the request waits for one.",
    body: lengthBody,
    success: { status: 201, description: "The lease.", schema: leaseSchema },
    errors: ["pool_exhausted"],
    async handle({ pool, body: { seconds }, response }) {
      const gone = new AbortController();
      response.once("close", () => gone.abort());
      const lease = await pool.lease(seconds, gone.signal);
      // Only the caller would know the id of the lease.
      onUnread(response, () => pool.abandon(lease.id));
      response.status(201).location(`/leases/${lease.id}`);
      await sendInTwoWrites(response, lease);
    },
  },
  {
    id: "renewLease",
    method: "put",
    path: "/leases/{id}",
    tag: "Leases",
    summary: "Renews the lease: its full time starts again now.",
    params: { id },
    body: lengthBody,
    success: { status: 200, description: "The lease with its new end.", schema: leaseSchema },
    errors: ["not_found"],
    handle: ({ pool, params: { id = "" }, body }) => pool.renew(id, body.seconds),
  },
  {
    id: "restoreLease",
    method: "post",
    path: "/leases/{id}/restore",
    tag: "Leases",
    summary: "Resets the sandbox, and responds with the lease.",
    description:
      "Use the URLs of the response: a sandbox that cannot be reset is replaced with one on other ports.",
    params: { id },
    success: { status: 200, description: "The lease of the reset sandbox.", schema: leaseSchema },
    errors: ["not_found", "sandbox_unavailable"],
    handle: async ({ pool, params: { id = "" } }) => await pool.restore(id),
  },
  {
    id: "endLease",
    method: "delete",
    path: "/leases/{id}",
    tag: "Leases",
    summary: "Ends the lease.",
    description: "Status: `204`.",
    params: { id },
    success: { status: 204, description: "The lease has ended.", schema: null },
    errors: ["not_found"],
    handle: ({ pool, params: { id = "" } }) => pool.end(id),
  },
  {
    id: "readPool",
    method: "get",
    path: "/",
    tag: "Pool",
    summary:
      "Returns the process id and the size of the pool, how many sandboxes are free, leased or being prepared, the waiting requests, limits, counters and leases.",
    success: { status: 200, description: "The state of the pool.", schema: poolStatusSchema },
    errors: [],
    handle: ({ pool }) => pool.status(),
  },
  {
    id: "readPoolDescription",
    method: "get",
    path: "/openapi.json",
    tag: "Pool",
    summary: "Returns the OpenAPI 3.1 description of these requests.",
    success: { status: 200, description: "The description.", schema: z.looseObject({ openapi: z.string() }) },
    errors: [],
    handle: ({ describe }) => describe(),
  },
];
