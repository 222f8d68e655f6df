import { type ErrorCode, errorCatalogue } from "../errors/catalogue.ts";
import { codesOfOperation } from "../errors/codes-of-operation.ts";
import type { Operation } from "../http/operation.ts";
import { errorsTable } from "./tables.ts";

/** The page that a problem's `type` names, as Markdown. */
export function errorPage(code: ErrorCode, operations: readonly Operation[]): string {
  const { status, title, what, remedy, retryable } = errorCatalogue[code];
  const met = operations.filter((operation) => codesOfOperation(operation).includes(code));
  const where =
    met.length === 0
      ? ["Any request whose path or method is not one of the API's."]
      : met.map(({ method, path, id }) => `- ${method.toUpperCase()} \`${path}\` (${id})`);
  return [
    `# ${title}`,
    "",
    `\`${code}\`, status ${status}. ${retryable ? "The identical request may succeed later." : "The identical request fails again."}`,
    "",
    "## What happened",
    "",
    what,
    "",
    "## What to do",
    "",
    remedy,
    "",
    "## Where it is met",
    "",
    ...where,
    "",
  ].join("\n");
}

/** The list of all error pages, as Markdown. */
export function errorIndex(docsUrl: string): string {
  return `# Errors\n\nEvery refusal is \`application/problem+json\` (RFC 9457); its \`type\` is one of these pages.\n\n${errorsTable(docsUrl)}\n`;
}
