import type { MutantGroup } from "./mutant.ts";

const pages = "test/server/api/operations/lists.test.ts";
const journal = "test/relayer/journal/journal.test.ts";

export const lists: readonly MutantGroup[] = [
  {
    file: "server/api/limits.ts",
    tests: [pages],
    mutants: [
      {
        rule: "A list without a limit has twenty items on a page and not more.",
        find: "const defaultPageSize = 20;",
        replace: "const defaultPageSize = 50;",
      },
    ],
  },
  {
    file: "server/domain/records/pagination.ts",
    tests: [pages],
    mutants: [
      {
        rule: "A page is as long as it was asked to be.",
        find: "const data = items.slice(0, limit);",
        replace: "const data = items.slice(0, limit + 1);",
      },
      {
        rule: "A list that ends with a full page has no empty page behind it.",
        find: "items.length > limit",
        replace: "items.length >= limit",
      },
      {
        rule: "A list without a limit has twenty items on a page.",
        find: "query.limit === undefined ? defaultPageSize : Number(query.limit)",
        replace: "Number(query.limit)",
      },
      {
        rule: "A cursor that no answer gave is refused.",
        find: "if (query.cursor !== undefined && !(await exists(query.cursor)))",
        replace: "if (query.cursor !== undefined && (await exists(query.cursor)) === undefined)",
      },
      {
        rule: "The next page begins after the last item that was shown.",
        find: "const last = data.at(-1);",
        replace: "const last = data.at(0);",
      },
    ],
  },
  {
    file: "server/api/operations/notifications/list-receipts.ts",
    tests: [pages],
    mutants: [
      {
        rule: "A cursor of another program's receipts is refused.",
        find: '(await store.get("receipts", eventId))?.value.program === program.id',
        replace: '(await store.get("receipts", eventId)) !== undefined',
      },
      {
        rule: "A list of receipts is of one program.",
        find: 'store.list("receipts", { program: program.id }',
        replace: 'store.list("receipts", {}',
      },
      {
        rule: "A page of receipts says whether another follows.",
        find: "limit: limit + 1",
        replace: "limit",
      },
    ],
  },
  {
    file: "server/api/operations/transactions/list-transactions.ts",
    tests: [pages],
    mutants: [
      {
        rule: "A cursor of another program's transactions is refused.",
        find: "(await relayer.read(id))?.program === program.id",
        replace: "(await relayer.read(id)) !== undefined",
      },
      {
        rule: "A list of transactions tells what the chain did since the last look.",
        find: "await relayer.observe();",
        replace: "",
        tests: ["test/relayer/over-http.test.ts"],
        only: "with three confirmations",
      },
      {
        rule: "A list of transactions has those of the status that is asked for.",
        find: "...(query.status === undefined ? {} : { status: query.status }),",
        replace: "",
      },
      {
        rule: "A page of transactions says whether another follows.",
        find: "limit: limit + 1",
        replace: "limit",
      },
    ],
  },
  {
    file: "server/store/stored-relayer-journal.ts",
    tests: [journal],
    mutants: [
      {
        rule: "A page of operations begins after the cursor.",
        find: "from: (last?.sequence ?? 0) + 1",
        replace: "from: last?.sequence ?? 0",
        tests: [pages],
      },
      {
        rule: "The last nonce of a signer is the highest one.",
        find: "{ reverse: true, limit: 1 }",
        replace: "{ limit: 1 }",
      },
      {
        rule: "Operations that are mined and not confirmed are unsettled.",
        find: '"broadcast", "mined", "needs_attention"',
        replace: '"broadcast", "needs_attention"',
        tests: ["test/relayer/recovery/follow.test.ts"],
      },
      {
        rule: "Operations below a nonce do not include it.",
        find: "from: nonce - 1, reverse: true, limit",
        replace: "from: nonce, reverse: true, limit",
      },
    ],
  },
];
