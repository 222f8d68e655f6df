import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { stateValues } from "../../check-contract/rules/matrix/state.ts";
import type { DescribedOperation } from "../../sandbox/control/describe-operations.ts";
import { controlTags } from "../../sandbox/control/operation.ts";
import { controlOperations } from "../../sandbox/control/table.ts";
import { signatureMistakes } from "../../sandbox/explain/signatures/mistakes.ts";
import { sandboxErrors } from "../../sandbox/lib/errors/sandbox-error.ts";
import { packageRoot } from "../../sandbox/lib/package-root.ts";
import { limitValues } from "../../server/documentation/limit-values.ts";
import {
  answersTable,
  bodiesTable,
  errorsTable,
  eventsTable,
  limitsTable,
  markdownTable,
  operationsTable,
} from "../../server/documentation/tables.ts";
import { operations } from "../../server/operations.ts";
import { poolOperations } from "../../testkit/pool/served/pool-operations.ts";
import { contractLimits, contractTables } from "./contract-tables.ts";
import { otherErrorsTable } from "./errors-table.ts";
import { defaultUrls } from "./openapi.ts";
import { exploreOptionsTable, optionsTable } from "./options-table.ts";
import { pageLimits } from "./page-limits.ts";
import { rpcTables } from "./rpc-tables.ts";

function requestsTable(described: readonly DescribedOperation[]): string {
  return markdownTable(
    ["Request", "What it does"],
    described.map((operation) => [requestOf(operation), textOf(operation)]),
  );
}

function requestOf({ method, path, example }: DescribedOperation): string {
  const body = example === undefined ? "" : ` \`${JSON.stringify(example)}\``;
  return `\`${method.toUpperCase()} ${path}\`${body}`;
}

function textOf({ summary, description = "", page, success, method }: DescribedOperation): string {
  const status =
    method === "post" && success.status !== 200 ? ` The response has the status \`${success.status}\`.` : "";
  const see = page === undefined ? "" : ` See [${page.words}](${page.target}).`;
  return `${summary} ${description}`.trim() + status + see;
}

interface Texts {
  readonly [name: string]: string;
}

const tables: { readonly [page: string]: Texts } = {
  "api.md": {
    operations: operationsTable(operations),
    bodies: bodiesTable(operations),
    errors: errorsTable(defaultUrls.docs),
    events: eventsTable(),
    limits: limitsTable(),
  },
  "check-contract.md": {
    states: markdownTable(
      ["Of", "Values"],
      Object.entries(stateValues).map(([name, values]) => [name, values.join(", ")]),
    ),
  },
  "contracts.md": contractTables,
  "control.md": {
    operations: requestsTable(
      Object.keys(controlTags).flatMap((tag) =>
        controlOperations.filter((operation) => operation.tag === tag && tag !== "Explorer"),
      ),
    ),
    explorer: requestsTable(controlOperations.filter(({ tag }) => tag === "Explorer")),
    own_chain: controlOperations
      .filter(({ needsOwnChain }) => needsOwnChain)
      .map(({ method, path }) => `- \`${method.toUpperCase()} ${path}\``)
      .join("\n"),
  },
  "pool.md": { operations: requestsTable(poolOperations) },
  "rpc.md": rpcTables,
  "tests.md": { answers: answersTable(operations) },
  "explain.md": {
    mistakes: markdownTable(
      ["Name", "Mistake"],
      Object.entries(signatureMistakes).map(([name, mistake]) => [`\`${name}\``, mistake]),
    ),
  },
  "explore.md": { options: exploreOptionsTable() },
  "options.md": {
    options: optionsTable(),
    errors: markdownTable(
      ["Code", "When"],
      Object.entries(sandboxErrors).map(([code, when]) => [`\`${code}\``, when]),
    ),
    other_errors: otherErrorsTable(),
  },
};

const limits: Texts = { ...limitValues(), ...pageLimits, ...contractLimits };

/**
 * Returns a page of docs/ with its tables (between `<!-- generated:name -->` and `<!-- /generated -->`) and the limits in its prose
 * (between `<!-- limit:name -->` and `<!-- /limit -->`) as the code has them.
 *
 * @throws Error when the page names a table or a limit that does not exist.
 * @example fillPage("rpc.md", await readFile("docs/rpc.md", "utf8"))
 */
export function fillPage(name: string, page: string): string {
  const withTables = replaceMarked(page, "generated", (table) => {
    const text = tables[name]?.[table];
    return text === undefined ? undefined : `\n${text}\n`;
  });
  return replaceMarked(withTables, "limit", (limit) => limits[limit]);
}

function replaceMarked(page: string, marker: string, textOf: (name: string) => string | undefined): string {
  const marked = new RegExp(`<!-- ${marker}:(\\w+) -->(?:(?!<!-- ${marker}:).)*?<!-- /${marker} -->`, "gs");
  return page.replaceAll(marked, (_, name: string) => {
    const text = textOf(name);
    if (text === undefined) throw new Error(`There is nothing to generate for ${marker}:${name}.`);
    return `<!-- ${marker}:${name} -->${text}<!-- /${marker} -->`;
  });
}

const folder = join(packageRoot(), "docs");
const pages = (await readdir(folder)).filter((name) => name.endsWith(".md"));

/** The pages of docs/ with their tables, and the limits that their prose names. */
export const files = Object.fromEntries(
  await Promise.all(
    pages.map(async (name) => [`docs/${name}`, fillPage(name, await readFile(join(folder, name), "utf8"))]),
  ),
);
