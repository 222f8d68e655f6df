import { z } from "zod";
import { errorCatalogue, errorCodes } from "../errors/catalogue.ts";
import type { Operation } from "../http/operation.ts";

/** A Markdown table. */
export function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}

/** Returns a list of the operations, each with its authorization in parentheses. */
export function operationsList(operations: readonly Operation[]): string {
  return operations
    .map((operation) => {
      const { method, path, summary } = operation;
      return `- ${method.toUpperCase()} \`${path}\` (${authorizationText(operation)}): ${summary}`;
    })
    .join("\n");
}

/** Returns an operation's authorization in the words of the guide. */
function authorizationText({ authorization }: Operation): string {
  switch (authorization.kind) {
    case "scope":
      return `\`${authorization.scope}\``;
    case "public":
      return "none";
    case "account":
      return "account key";
    case "signed_event":
      return "webhook signature";
    case "wallet":
      return "bound wallet";
  }
}

/** A field of a JSON Schema, as far as a table shows it. */
interface FieldSchema {
  $ref?: string;
  type?: string;
  enum?: readonly string[];
  items?: FieldSchema;
  minLength?: number;
  maxLength?: number;
  pattern?: string;
  description?: string;
}

/** The names of the shared schemas in the tables. */
const typeNames: { readonly [schema: string]: string } = {
  Amount: "amount",
  Hash: "hash",
  JsonObject: "object",
  PositiveAmount: "amount above 0",
  ProgramId: "`prg_…`",
  Signature: "signature",
  Timestamp: "timestamp",
  UnixTime: "Unix seconds",
  ClaimId: "`clm_…`",
  DecisionId: "`dec_…`",
  EventId: "`evt_…`",
  MerchantId: "`mer_…`",
};

/** Returns a list of the fields of each request body, except signed events, which the service itself has sent. */
export function bodiesList(operations: readonly Operation[]): string {
  const lists = operations.flatMap((operation) => {
    if (operation.body === undefined) return [];
    const { $defs = {} } = z.toJSONSchema(operation.body, { io: "input", unrepresentable: "any" });
    // A body has an id, so that its schema is the first of the definitions.
    const [{ properties = {}, required = [] } = {}] = Object.values($defs);
    const fields = Object.entries(properties).map(([field, schema]) => {
      const { description = "" } = schema as FieldSchema;
      const mark = required.includes(field) ? "" : "?";
      return `- \`${field}${mark}\` (${typeOf(schema as FieldSchema)}): ${description}`;
    });
    return fields.length === 0 ? [] : [`${shortName(operation)}\n\n${fields.join("\n")}`];
  });
  return `\n${lists.join("\n\n")}\n`;
}

/** Returns a list of the objects that operations return, each with the operations that return it and their statuses. */
export function answersList(operations: readonly Operation[]): string {
  const listed = new Map<string, { returning: string[]; fields: string }>();
  for (const operation of operations) {
    const { responses } = operation;
    const [response] = Object.values(responses);
    const { $ref = "", $defs = {} } = z.toJSONSchema(response?.schema ?? z.null(), {
      unrepresentable: "any",
    });
    const name = $ref.split("/").at(-1) ?? "";
    const fields = Object.keys($defs[name]?.properties ?? {}).map((field) => `\`${field}\``);
    const row = listed.get(name) ?? { returning: [], fields: fields.join(", ") };
    row.returning.push(`${shortName(operation)} ${Object.keys(responses).join(" or ")}`);
    listed.set(name, row);
  }
  const rows = [...listed.values()].map(({ returning, fields }) => `- ${returning.join(", ")}: ${fields}`);
  return `\n${rows.join("\n")}\n`;
}

/** Returns the method and the end of the path, as the documents name an operation: "`POST …/activate`"; of a wallet route, the whole path. */
function shortName({ method, path }: Operation): string {
  const [end] = /\/[^/]+(\/\{\w+\})?$/.exec(path) ?? [path];
  return `\`${method.toUpperCase()} ${path.startsWith("/wallet/") ? path : `…${end}`}\``;
}

function typeOf(schema: FieldSchema): string {
  const { $ref, type, items, maxLength } = schema;
  if ($ref !== undefined) return typeNames[$ref.split("/").at(-1) ?? ""] ?? "?";
  if (schema.enum !== undefined) return schema.enum.map((value) => `\`${value}\``).join(", ");
  if (items !== undefined) return `list of ${typeOf(items)}`;
  if (schema.pattern?.startsWith("^0x[0-9a-fA-F]{40}") === true) return "address";
  return maxLength === undefined ? (type ?? "") : `at most ${maxLength} characters`;
}

/** The error codes by their status, each linked to its page. @param folder - the path of the pages that it links to. */
export function errorsList(docsUrl: string, folder = ""): string {
  const byStatus = Object.entries(Object.groupBy(errorCodes, (code) => errorCatalogue[code].status));
  const lists = byStatus.map(([status, codes = []]) => {
    const rows = codes.map((code) => {
      const { retryable, remedy } = errorCatalogue[code];
      return `- [\`${code}\`](${docsUrl}/errors/${code})${retryMark(retryable)}: ${linkPages(remedy, folder)}`;
    });
    return `**Status ${status}**\n\n${rows.join("\n")}`;
  });
  return `\n${lists.join("\n\n")}\n`;
}

/** Returns a text in which each page that it names, as in `(docs/security.md)`, is a link. @param folder - the path of the pages. */
export function linkPages(text: string, folder: string): string {
  return text.replaceAll(
    /\((docs\/([\w-]+\.md))\)/g,
    (_, name: string, page: string) => `([${name}](${folder}${page}))`,
  );
}

function retryMark(retryable: boolean | null): string {
  if (retryable === null) return " (sometimes retryable)";
  return retryable ? " (retryable)" : "";
}
