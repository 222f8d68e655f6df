import { z } from "zod";
import { relayOperationStatuses } from "../../relayer/journal/relay-operation.ts";
import { pageQuerySchema } from "./pagination.ts";
import { gasBudgetSchema, relayOperationSchema } from "./relay-operation.ts";

/** Query of operation 16. */
export const listTransactionsQuery = pageQuerySchema.extend({
  status: z.enum(relayOperationStatuses).optional(),
});

/** Answer of operation 16. */
export const transactionsSchema = z
  .object({
    data: z.array(relayOperationSchema),
    gas_budget: gasBudgetSchema,
    next_cursor: z.string().nullable().meta({ description: "Null on the last page.", example: null }),
  })
  .meta({ id: "Transactions" });
