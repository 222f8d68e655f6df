import { z } from "zod";
import { errorCatalogue, errorCodes } from "../errors/catalogue.ts";
import { limits, limitTexts } from "../http/limits.ts";
import { authorizationName, type Operation } from "../http/operation.ts";

/** A Markdown table. */
export function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}

/** Returns a table of the operations with their authorization. */
export function operationsTable(operations: readonly Operation[]): string {
  return markdownTable(
    ["#", "Method and path", "Authorization", "Idempotency-Key", "Description"],
    operations.map((operation) => [
      operation.number === null ? "" : String(operation.number),
      `${operation.method.toUpperCase()} \`${operation.path}\``,
      authorizationName(operation),
      operation.idempotent ? "required" : "",
      operation.summary,
    ]),
  );
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

/** Returns a table of the fields of all request bodies, except signed events, which the service itself has sent. */
export function bodiesTable(operations: readonly Operation[]): string {
  const rows = operations.flatMap((operation) => {
    if (operation.body === undefined) return [];
    const { $defs = {} } = z.toJSONSchema(operation.body, { io: "input", unrepresentable: "any" });
    // A body has an id, so that its schema is the first of the definitions.
    const [{ properties = {}, required = [] } = {}] = Object.values($defs);
    return Object.entries(properties).map(([field, schema], index) => [
      index === 0 ? shortName(operation) : "",
      `\`${field}\``,
      typeOf(schema as FieldSchema),
      required.includes(field) ? "required" : "",
      (schema as FieldSchema).description ?? "",
    ]);
  });
  return markdownTable(["Operation", "Field", "Type", "", "Description"], rows);
}

/** Returns a table of the fields of each operation's response. An object that several operations return is listed once. */
export function answersTable(operations: readonly Operation[]): string {
  const listed = new Map<string, string>();
  const rows = operations.map((operation) => {
    const { responses } = operation;
    const [response] = Object.values(responses);
    const { $ref = "", $defs = {} } = z.toJSONSchema(response?.schema ?? z.null(), {
      unrepresentable: "any",
    });
    const name = $ref.split("/").at(-1) ?? "";
    const fields = Object.keys($defs[name]?.properties ?? {}).map((field) => `\`${field}\``);
    const same = listed.get(name);
    if (same === undefined) listed.set(name, shortName(operation));
    const answer = same === undefined ? fields.join(", ") : `the same as ${same}`;
    return [shortName(operation), Object.keys(responses).join(", "), answer];
  });
  return markdownTable(["Operation", "Status", "Fields of the response"], rows);
}

/** Returns the method and the end of the path, as the documents name an operation: "`POST …/activate`". */
function shortName({ method, path }: Operation): string {
  const [end] = /\/[^/]+(\/\{\w+\})?$/.exec(path) ?? [path];
  return `\`${method.toUpperCase()} …${end}\``;
}

function typeOf(schema: FieldSchema): string {
  const { $ref, type, items, maxLength } = schema;
  if ($ref !== undefined) return typeNames[$ref.split("/").at(-1) ?? ""] ?? "?";
  if (schema.enum !== undefined) return schema.enum.map((value) => `\`${value}\``).join(", ");
  if (items !== undefined) return `list of ${typeOf(items)}`;
  if (schema.pattern?.startsWith("^0x[0-9a-fA-F]{40}") === true) return "address";
  return maxLength === undefined ? (type ?? "") : `text of at most ${maxLength} characters`;
}

/** The error codes, each linked to its page. */
export function errorsTable(docsUrl: string): string {
  return markdownTable(
    ["Status", "Code", "Retry the identical request", "What to do"],
    errorCodes.map((code) => {
      const { status, retryable, remedy } = errorCatalogue[code];
      const again = retryable === null ? "as `retryable` says" : yesOrNo(retryable);
      return [String(status), `[\`${code}\`](${docsUrl}/errors/${code})`, again, remedy];
    }),
  );
}

function yesOrNo(value: boolean): string {
  return value ? "yes" : "no";
}

/** The limits of the service. */
export function limitsTable(): string {
  return markdownTable(
    ["Limit", "Value"],
    [
      ["POST body", `${limits.body_bytes} bytes of JSON`],
      ["Idempotency-Key", `${limitTexts.idempotency_key_length} visible ASCII characters`],
      ["Lifetime of a credential", `${limitTexts.credential_lifetime} of sandbox time`],
      ["Delivery attempts of a notification", String(limits.delivery_attempts)],
      [
        "Difference between a signed event's timestamp and the sandbox's time",
        `${limits.event_tolerance_seconds} s`,
      ],
      ["Items of a page", String(limits.page_size_max)],
    ],
  );
}
