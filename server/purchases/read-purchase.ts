import { defineOperation } from "../http/operation.ts";
import { purchaseSchema } from "../schemas/purchases.ts";
import { findPurchaseNow } from "./read-at-one-block.ts";
import { viewPurchase } from "./views.ts";

/** `GET …/purchases/{id}`: fresh figures and payment receipts, read from the chain at one block. */
export const readPurchase = defineOperation({
  number: 7,
  id: "readPurchase",
  method: "get",
  path: "/v1/routing/programs/{program}/purchases/{id}",
  summary: "Read a purchase",
  description:
    "Returns the purchase with approved, paid and outstanding figures and payment receipts, read from the chain at one block.",
  authorization: { kind: "scope", scope: "records:read" },
  idempotent: false,
  effect: false,
  responses: { 200: { description: "The purchase.", schema: purchaseSchema } },
  errors: ["not_found"],
  events: [],
  async handle({ services, program, id }) {
    const { purchase, parts, onChain } = await findPurchaseNow(services, program.id, id);
    return { kind: "read", status: 200, body: viewPurchase(purchase, parts, onChain, services) };
  },
});
