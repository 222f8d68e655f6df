import { defineOperation } from "../http/operation.ts";
import { deliveryReceiptSchema } from "../schemas/notifications.ts";
import { pageQuerySchema, pageSchema } from "../schemas/pagination.ts";
import { cutPage, readPageRequest } from "../store/records/pagination.ts";
import { viewDeliveryReceipt } from "./views.ts";

/** `GET …/notification-receipts`: one signed delivery receipt per event. */
export const listReceipts = defineOperation({
  number: 15,
  id: "listReceipts",
  method: "get",
  path: "/v1/routing/programs/{program}/notification-receipts",
  summary: "List delivery receipts",
  description: "Returns the signed delivery receipts of the pinned receiver, one per event, oldest first.",
  authorization: { kind: "scope", scope: "records:read" },
  idempotent: false,
  effect: false,
  query: pageQuerySchema,
  responses: {
    200: {
      description: "A page of delivery receipts.",
      schema: pageSchema(deliveryReceiptSchema, "DeliveryReceipts"),
    },
  },
  errors: [],
  events: [],
  async handle({ services, program, query }) {
    const { store } = services;
    const exists = async (eventId: string) =>
      (await store.get("receipts", eventId))?.value.program === program.id;
    const { after, limit } = await readPageRequest(query, exists);
    const found = await store.list("receipts", { program: program.id }, { after, limit: limit + 1 });
    const page = cutPage(found, limit, (one) => one.key);
    return {
      kind: "read",
      status: 200,
      body: { data: page.data.map((one) => viewDeliveryReceipt(one.value)), next_cursor: page.next_cursor },
    };
  },
});
