import type { z } from "zod";
import { type Finding, Problem } from "../errors/problem.ts";

/**
 * Parses a value by its schema; every finding is listed with its JSON pointer (RFC 6901).
 *
 * @param root - the pointer's start, such as "" for the body or "/query".
 * @throws Problem validation_failed
 */
export function validate<T extends z.ZodType>(schema: T, value: unknown, root: string): z.output<T> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const errors = reported(result.error.issues).flatMap((issue) => findings(issue, root));
  const [first] = errors;
  throw new Problem(
    "validation_failed",
    first ? `${first.pointer || "The body"}: ${first.detail}` : "Invalid.",
    { errors },
  );
}

/** Leaves out what is said of a value's length when its type is wrong already: zod measures a text that should be a list. */
function reported(issues: readonly z.core.$ZodIssue[]): readonly z.core.$ZodIssue[] {
  const mistyped = new Set(
    issues.flatMap(({ code, path }) => (code === "invalid_type" ? [path.join("\n")] : [])),
  );
  return issues.filter(({ code, path }) => code === "invalid_type" || !mistyped.has(path.join("\n")));
}

function findings(issue: z.core.$ZodIssue, root: string): Finding[] {
  const at = root + issue.path.map((part) => `/${escapePointer(String(part))}`).join("");
  if (issue.code === "unrecognized_keys")
    return issue.keys.map((key) => ({
      pointer: `${at}/${escapePointer(key)}`,
      code: "unknown_field",
      detail: "is not a field of this request",
    }));
  return [{ pointer: at, code: issue.code, detail: issue.message }];
}

function escapePointer(part: string): string {
  return part.replaceAll("~", "~0").replaceAll("/", "~1");
}
