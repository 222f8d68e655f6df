import { type ErrorCode, errorCatalogue } from "../errors/catalogue.ts";
import { codesOfOperation, edgeCodes } from "../errors/codes-of-operation.ts";
import type { Operation } from "../http/operation.ts";
import { errorsTable } from "./tables.ts";

/** Explains a code as Markdown: what happened, what to do, which operations answer with it. */
export function errorPage(code: ErrorCode, operations: readonly Operation[]): string {
  const { status, title, what, remedy, retryable } = errorCatalogue[code];
  const again = describeRetry(retryable);
  const met = operations
    .filter((operation) => codesOfOperation(operation).includes(code))
    .map(({ method, path, id }) => ({ request: `${method.toUpperCase()} ${path}`, id }));
  const anywhere = edgeCodes.some((one) => one === code)
    ? "Any request, on every host, before an operation sees it."
    : "Any request whose path or method is not one of the API's.";
  const lines = met.map(({ request, id }) => `- \`${request}\` (${id})`);
  return [
    `# ${title}\n`,
    `\`${code}\`, status ${status}. ${again}\n`,
    `## What happened\n\n${what}\n`,
    `## What to do\n\n${remedy}\n`,
    `## Where it is met\n\n${met.length === 0 ? anywhere : lines.join("\n")}\n`,
  ].join("\n");
}

function describeRetry(retryable: boolean | null): string {
  if (retryable === null)
    return "`retryable` of the response says whether the identical request may succeed later.";
  return retryable ? "The identical request may succeed later." : "The identical request fails again.";
}

/** The list of all error pages, as Markdown. */
export function errorIndex(docsUrl: string): string {
  return `# Errors\n\nEvery refusal is \`application/problem+json\` (RFC 9457); its \`type\` is one of these pages.\n\n${errorsTable(docsUrl)}\n`;
}
