import { z } from "zod";
import { operationStatuses } from "../../relayer/journal/operation.ts";
import { gasBudgetSchema, operationSchema } from "./operation.ts";
import { pageQuerySchema } from "./pagination.ts";

/** Query of operation 16. */
export const listTransactionsQuery = pageQuerySchema.extend({ status: z.enum(operationStatuses).optional() });

/** Answer of operation 16. */
export const transactionsSchema = z
  .object({
    data: z.array(operationSchema),
    gas_budget: gasBudgetSchema,
    next_cursor: z.string().nullable().meta({ description: "Null on the last page.", example: null }),
  })
  .meta({ id: "Transactions" });
