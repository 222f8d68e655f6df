import { z } from "zod";
import { merchantSchema } from "../../server/schemas/merchants.ts";
import { notificationSchema } from "../../server/schemas/notifications.ts";
import { paymentReceiptSchema, purchaseSchema } from "../../server/schemas/purchases.ts";
import { claimSchema, decisionSchema, refundSchema } from "../../server/schemas/refunds.ts";
import { controlOf } from "../lib/control/operation.ts";
import type { UndoableCalls } from "../lib/control/undoable-calls.ts";
import type { Given } from "./given.ts";
import { givenRequestSchema } from "./options.ts";

const defineControl = controlOf<{ given: Pick<Given, "until">; calls: UndoableCalls }>();

const givenSchema = z
  .union([
    z.object({ merchant: merchantSchema }).meta({ id: "GivenMerchant" }),
    z
      .object({
        merchant: merchantSchema,
        purchase: purchaseSchema,
        payments: z.array(paymentReceiptSchema),
        claim: claimSchema.nullable(),
        decision: decisionSchema.nullable(),
        refund: refundSchema.nullable(),
      })
      .meta({ id: "GivenPurchase" }),
  ])
  .meta({ id: "Given", description: "Everything that was created, as the routing API returns it." });

const give = defineControl({
  id: "give",
  method: "post",
  path: "/given",
  tag: "Given",
  summary: "Creates a merchant or a purchase in a state.",
  description:
    "The body has either `merchant` or `purchase`, with its options. The refusal `given_invalid` has a `pointer` to each wrong option in `errors`. If the routing API refuses a step, its response is in `problem`.",
  page: { target: "states.md", words: "states and options" },
  describedBody: givenRequestSchema,
  example: { purchase: { state: "paid" } },
  success: { status: 201, description: "Everything that was created.", schema: givenSchema },
  errors: ["given_invalid", "given_refused", "wallet_unfunded", "retry_limit", "needs_own_chain"],
  recorded: false,
  handle: async ({ sandbox: { given, calls }, body }) =>
    await calls.run(async (ended) => await given.until(ended).request(body)),
});

/** `POST /deliver` */
export const deliver = defineControl({
  id: "deliver",
  method: "post",
  path: "/deliver",
  tag: "Given",
  summary: "Delivers every undelivered event of all programs.",
  page: { target: "notifications.md", words: "notifications" },
  command: {
    name: "deliver",
    description: "deliver every undelivered event of the running sandbox; exit with 1 if one is exhausted",
  },
  success: {
    status: 200,
    description: "The notifications that were delivered or exhausted.",
    schema: z.object({ notifications: z.array(notificationSchema) }).meta({ id: "Notifications" }),
  },
  errors: ["retry_limit"],
  recorded: false,
  handle: async ({ sandbox: { given, calls } }) => ({
    notifications: await calls.run(async (ended) => await given.until(ended).deliveries.all()),
  }),
});

/** The operations that give states and deliver. A recording notes the requests and transactions that they make. */
export const givenOperations = [give, deliver];
