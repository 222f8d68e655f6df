import { toTimestamp } from "../../protocol/time.ts";
import { authorizationName, defineOperation } from "../http/operation.ts";
import { limits } from "../limits.ts";
import { eventTypes } from "../outbox/event-types.ts";
import { capabilitiesSchema } from "../schemas/capabilities.ts";
import { scopes } from "../scopes.ts";
import { viewChain, viewContracts, viewPublicKey } from "../views/program.ts";

/** Operation 1: what this service is and can do. */
export const capabilities = defineOperation({
  number: 1,
  id: "capabilities",
  method: "get",
  path: "/v1/routing/capabilities",
  summary: "Enabled route metadata",
  description:
    "Says which routes are enabled, on which chain and contracts, with which limits, scopes, operations and keys.",
  authorization: { kind: "public" },
  idempotent: false,
  effect: false,
  responses: { 200: { description: "The service's metadata.", schema: capabilitiesSchema } },
  errors: [],
  events: [],
  async handle({ services, operations, now }) {
    const { current } = await services.keyRing.notifications();
    return {
      kind: "read",
      status: 200,
      body: {
        service: "routing-sandbox",
        version: "1.4.0",
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
          number: operation.number,
          id: operation.id,
          method: operation.method.toUpperCase(),
          path: operation.path,
          authorization: authorizationName(operation),
          idempotent: operation.idempotent,
        })),
        events: Object.entries(eventTypes).map(([type, { description }]) => ({ type, description })),
        keys: {
          notifications: viewPublicKey(current.key),
          receipts: viewPublicKey(await services.keyRing.receipts()),
        },
      },
    };
  },
});
