import { toJson } from "../../protocol/values/json.ts";
import { defineOperation } from "../http/operation.ts";
import { listTransactionsQuery, transactionsSchema } from "../schemas/transactions.ts";
import { cutPage, readPageRequest } from "../store/records/pagination.ts";
import { assertKnown } from "../store/records/status-after-reorg.ts";

/** `GET …/transactions`: the relayer's operations and the gas budget. */
export const listTransactions = defineOperation({
  number: 16,
  id: "listTransactions",
  method: "get",
  path: "/v1/routing/programs/{program}/transactions",
  summary: "List relay operations and the gas budget",
  description:
    "Returns the relay operations with all their transaction hashes, oldest first, and the program's gas budget.",
  authorization: { kind: "scope", scope: "records:read" },
  idempotent: false,
  effect: false,
  query: listTransactionsQuery,
  responses: { 200: { description: "A page of relay operations.", schema: transactionsSchema } },
  errors: [],
  events: [],
  async handle({ services, program, query }) {
    const { relayer } = services;
    const exists = async (id: string) => (await relayer.read(id))?.program === program.id;
    const { after, limit } = await readPageRequest(query, exists);
    // The list includes every change of the chain since the last look; nothing is sent.
    await relayer.observe();
    assertKnown((await relayer.unknownOutcomes()).filter(({ program: of }) => of === program.id));
    const operations = await relayer.list(program.id, {
      limit: limit + 1,
      ...(after === undefined ? {} : { after }),
      ...(query.status === undefined ? {} : { status: query.status }),
    });
    const page = cutPage(operations, limit, (operation) => operation.operation_id);
    const gas_budget = toJson(await relayer.budget(program.id));
    return {
      kind: "read",
      status: 200,
      body: { data: toJson(page.data), gas_budget, next_cursor: page.next_cursor },
    };
  },
});
