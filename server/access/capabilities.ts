import type { Json } from "../../protocol/values/json.ts";
import { toTimestamp } from "../../protocol/values/time.ts";
import { defineOperation, type Operation } from "../http/operation.ts";
import type { Services } from "../http/services.ts";
import type { PublicKey } from "../keys/key-ring.ts";
import { limits } from "../limits.ts";
import { viewChain, viewContracts, viewPublicKey } from "../programs/views.ts";
import { viewOperation } from "../relay/views.ts";
import { capabilitiesSchema } from "../schemas/access.ts";
import { eventTypes } from "../schemas/event-types.ts";
import { scopes } from "../schemas/scopes.ts";
import { apiVersion } from "../schemas/versions.ts";

/** `GET …/capabilities`: what this service is and can do. */
export const capabilities = defineOperation({
  number: 1,
  id: "capabilities",
  method: "get",
  path: "/v1/routing/capabilities",
  summary: "Read the service's metadata",
  description:
    "Returns the enabled routes, the chain and its contracts, the limits, scopes, operations and keys.",
  authorization: { kind: "public" },
  idempotent: false,
  effect: false,
  responses: { 200: { description: "The service's metadata.", schema: capabilitiesSchema } },
  errors: [],
  events: [],
  async handle({ services, operations, now }) {
    const [{ current }, receipts] = await Promise.all([
      services.keyRing.notifications(),
      services.keyRing.receipts(),
    ]);
    // The same until the second or a key changes.
    const version = `${now} ${current.key.keyId} ${receipts.keyId}`;
    let kept = answered.get(services);
    if (kept?.version !== version) {
      const body = describe({ services, operations, now, notifications: current.key, receipts });
      kept = { version, json: Buffer.from(JSON.stringify(body)) };
      answered.set(services, kept);
    }
    return { kind: "kept", status: 200, json: kept.json };
  },
});

/** The last answer of each service. */
const answered = new WeakMap<Services, { version: string; json: Buffer }>();

function describe(facts: {
  services: Services;
  operations: readonly Operation[];
  now: number;
  notifications: PublicKey;
  receipts: PublicKey;
}) {
  const { services, operations, now, notifications, receipts } = facts;
  return {
    service: "routing-sandbox",
    version: apiVersion,
    now: toTimestamp(now),
    routes: [
      { id: "registrar_offer", relayed: true, enabled: true },
      { id: "merchant_direct", relayed: false, enabled: true },
    ],
    chain: viewChain(services),
    contracts: viewContracts(services),
    limits: { ...limits },
    scopes: [...scopes],
    operations: operations.map((operation) => ({
      ...viewOperation(operation),
      idempotent: operation.idempotent,
    })),
    events: Object.entries(eventTypes).map(([type, { description }]) => ({ type, description })),
    keys: { notifications: viewPublicKey(notifications), receipts: viewPublicKey(receipts) },
  } satisfies Json;
}
