import { errorCatalogue, errorCodes } from "../api/errors/catalogue.ts";
import { limits, limitTexts } from "../api/limits.ts";
import { authorizationName, type Operation } from "../http/operation.ts";
import { eventTypes } from "../outbox/event-types.ts";

/** A Markdown table. */
export function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}

/** The operations, with who may call them. */
export function operationsTable(operations: readonly Operation[]): string {
  return markdownTable(
    ["#", "Method and path", "Authorization", "Idempotency-Key", "What it does"],
    operations.map((operation) => [
      operation.number === null ? "" : String(operation.number),
      `${operation.method.toUpperCase()} \`${operation.path}\``,
      authorizationName(operation),
      operation.idempotent ? "required" : "",
      operation.summary,
    ]),
  );
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

/** The kinds of outbox events. */
export function eventsTable(): string {
  return markdownTable(
    ["Event", "When"],
    Object.entries(eventTypes).map(([type, { description }]) => [`\`${type}\``, description]),
  );
}

/** The limits of the service. */
export function limitsTable(): string {
  return markdownTable(
    ["Limit", "Value"],
    [
      ["POST body", `${limits.body_bytes} bytes of JSON`],
      ["Idempotency-Key", `${limitTexts.idempotency_key_length} visible ASCII characters`],
      ["Credential", `${limitTexts.credential_lifetime} of sandbox time`],
      ["Delivery attempts of a notification", String(limits.delivery_attempts)],
      [
        "Difference between a signed event's timestamp and the sandbox's time",
        `${limits.event_tolerance_seconds} s`,
      ],
      ["Items of a page", String(limits.page_size_max)],
    ],
  );
}
