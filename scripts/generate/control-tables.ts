import type { DescribedOperation } from "../../sandbox/hosts/control/describe-operations.ts";
import { controlTags } from "../../sandbox/hosts/control/operation.ts";
import { controlOperations } from "../../sandbox/hosts/control/table.ts";
import { markdownTable } from "../../server/documentation/tables.ts";
import { poolOperations } from "../../testkit/pool/served/pool-operations.ts";

/** The tables of docs/control.md, by their names: a table of all requests, and one of what the explorer reads. */
export const controlTables = {
  operations: markdownTable(
    ["Request", "What it does"],
    Object.keys(controlTags)
      .filter((tag) => tag !== "Explorer")
      .flatMap((tag) => controlOperations.filter((operation) => operation.tag === tag))
      .map((operation) => [requestOf(operation), textOf(operation)]),
  ),
  explorer: markdownTable(
    ["Request", "What it does"],
    controlOperations
      .filter(({ tag }) => tag === "Explorer")
      .map((operation) => [requestOf(operation), textOf(operation)]),
  ),
};

/** The table of docs/pool.md, by its name. */
export const poolTables = {
  operations: markdownTable(
    ["Request", "What it does"],
    poolOperations.map((operation) => [requestOf(operation), textOf(operation)]),
  ),
};

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
