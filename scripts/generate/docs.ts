import { readFileSync } from "node:fs";
import { glob, readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { stateValues } from "../../check-contract/rules/matrix/state.ts";
import type { DescribedOperation } from "../../sandbox/control/describe-operations.ts";
import { controlTags } from "../../sandbox/control/operation.ts";
import { controlOperations } from "../../sandbox/control/table.ts";
import { signatureMistakes } from "../../sandbox/explain/signatures/mistakes.ts";
import { sandboxErrors } from "../../sandbox/lib/errors/sandbox-error.ts";
import { withoutWrappers } from "../../sandbox/lib/option-schemas.ts";
import { packageRoot } from "../../sandbox/lib/package-root.ts";
import { flaggedOptions, sandboxOptions } from "../../sandbox/options/options.ts";
import { defaultUrls } from "../../server/documentation/at-addresses.ts";
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
import { exploreOptions } from "../../testkit/explore/options.ts";
import { poolOperations } from "../../testkit/pool/served/pool-operations.ts";
import { contractTables } from "./contract-tables.ts";
import { otherErrorsTable } from "./errors-table.ts";
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

/**
 * Returns the table of the options of a schema, with sentences and defaults from their doc comments.
 *
 * @param flags - the title of the column of the flags.
 * @throws Error for an option without a comment or a default.
 */
function optionsTable(file: string, { shape }: z.ZodObject, flags?: string): string {
  const comments = readFileSync(join(packageRoot(), file), "utf8").matchAll(
    /\/\*\*((?:(?!\*\/).)*)\*\/\s+(\w+)\?: /gs,
  );
  const texts = new Map([...comments].map(([, text = "", name = ""]) => [name, text]));
  const rows = Object.entries(shape).map(([name, schema]) => {
    const [what = "", value] = (texts.get(name) ?? "")
      .replace(/\s*\n\s*\* ?/g, " ")
      .split(/\s*@defaultValue\s+/);
    if (value === undefined) throw new Error(`The option ${name} has no comment or no default.`);
    const own = flaggedOptions.filter((option) => option.name.split(".")[0] === name);
    const flagged = own.map(({ flag }) => `\`${flag.replace(/ .*/, "")}\``).join(", ");
    return [
      `\`${name}\``,
      ...(flags === undefined ? [] : [flagged]),
      typeOf(schema),
      value.trim(),
      what.trim(),
    ];
  });
  const head = flags === undefined ? ["Type"] : [flags, "Type and unit"];
  return markdownTable(["Option", ...head, "Default", "What it does"], rows);
}

function typeOf(option: z.core.$ZodType): string {
  const schema = withoutWrappers(option);
  if (schema instanceof z.ZodArray) return `an array; each entry is ${titleOf(schema.element)}`;
  if (!(schema instanceof z.ZodObject)) return titleOf(schema);
  const types = [...new Set(Object.values(schema.shape).map((field) => titleOf(withoutWrappers(field))))];
  const names = Object.keys(schema.shape);
  return `\`{ ${names.join(", ")} }\`, ${names.length === 1 ? "" : "each "}${types.join(" or ")}`;
}

function titleOf(schema: z.core.$ZodType): string {
  return z.globalRegistry.get(schema)?.title ?? "any value";
}

interface Texts {
  readonly [name: string]: string;
}

const apiTables: Texts = {
  operations: operationsTable(operations),
  bodies: bodiesTable(operations),
  answers: answersTable(operations),
  errors: errorsTable(defaultUrls.docs),
  events: eventsTable(),
  limits: limitsTable(),
};

const tables: { readonly [page: string]: Texts } = {
  "portal/docs.md": apiTables,
  "docs/api.md": apiTables,
  "docs/check-contract.md": {
    states: markdownTable(
      ["Of", "Values"],
      Object.entries(stateValues).map(([name, values]) => [name, values.join(", ")]),
    ),
  },
  "docs/contracts.md": contractTables,
  "docs/control.md": {
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
  "docs/pool.md": { operations: requestsTable(poolOperations) },
  "docs/rpc.md": rpcTables,
  "docs/tests.md": apiTables,
  "docs/explain.md": {
    mistakes: markdownTable(
      ["Name", "Mistake"],
      Object.entries(signatureMistakes).map(([name, mistake]) => [`\`${name}\``, mistake]),
    ),
  },
  "docs/explore.md": { options: optionsTable("testkit/explore/options.ts", exploreOptions) },
  "docs/options.md": {
    options: optionsTable("sandbox/options/options.ts", sandboxOptions, "`start`"),
    errors: markdownTable(
      ["Code", "When"],
      Object.entries(sandboxErrors).map(([code, when]) => [`\`${code}\``, when]),
    ),
    other_errors: otherErrorsTable(),
  },
};

/**
 * Returns a page with its tables (between `<!-- generated:name -->` and `<!-- /generated -->`) as the code has them.
 *
 * @throws Error when the page names a table that does not exist.
 */
export function fillPage(name: string, page: string): string {
  const marked = /<!-- generated:(\w+) -->(?:(?!<!-- generated:).)*?<!-- \/generated -->/gs;
  return page.replaceAll(marked, (_, table: string) => {
    const text = tables[name]?.[table];
    if (text === undefined) throw new Error(`There is no table ${table} for ${name}.`);
    return `<!-- generated:${table} -->\n${text}\n<!-- /generated -->`;
  });
}

const pages = await Array.fromAsync(glob(["docs/*.md", "portal/docs.md"], { cwd: packageRoot() }));

/** The pages with their tables. */
export const files = Object.fromEntries(
  await Promise.all(
    pages.map(async (page) => [page, fillPage(page, await readFile(join(packageRoot(), page), "utf8"))]),
  ),
);
