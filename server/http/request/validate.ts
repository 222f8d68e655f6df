import { z } from "zod";
import { isError } from "../../../protocol/coded-error.ts";
import { prefetch } from "../../../relayer/prefetch.ts";
import { type FieldError, Problem } from "../../errors/problem.ts";
import { describeIssue, nameValue } from "../../schemas/describe-issue.ts";
import { bodyRequired, type OperationContext } from "../operation.ts";
import type { Step } from "../step.ts";
import { maximumDepth, parseJson } from "./parse-json.ts";
import type { Received } from "./read-body.ts";

/** Operations without a query take none. */
const noQuery = z.strictObject({});

/** The value by a schema, or the errors in its fields. */
type Checked<T> = { data: T; errors: null } | { data: null; errors: FieldError[] };

/**
 * Parses a value by its schema.
 *
 * @param root - the start of the errors' JSON pointers (RFC 6901), such as "" for the body or "/query".
 */
export function check<T extends z.ZodType>(schema: T, value: unknown, root: string): Checked<z.output<T>> {
  try {
    const { success, data, error } = schema.safeParse(value, { error: describeIssue, reportInput: true });
    if (success) return { data, errors: null };
    return { data: null, errors: reported(error.issues).flatMap((issue) => toFieldErrors(issue, root)) };
  } catch (error) {
    // zod calls itself for each level.
    if (!(isError(error) && error.name === "RangeError")) throw error;
    return {
      data: null,
      errors: [{ pointer: root, code: "too_big", detail: `must have at most ${maximumDepth} levels` }],
    };
  }
}

/**
 * Parses a value by its schema; every error is listed with its JSON pointer (RFC 6901).
 *
 * @param root - the pointer's start, such as "" for the body or "/query".
 * @throws Problem validation_failed
 */
export function validate<T extends z.ZodType>(schema: T, value: unknown, root: string): z.output<T> {
  const { data, errors } = check(schema, value, root);
  if (errors === null) return data;
  const [first] = errors;
  const detail = first === undefined ? "Invalid." : `${first.pointer || "The body"} ${first.detail}`;
  throw new Problem("validation_failed", detail, { errors });
}

/** Leaves out what is said of a value's length when its type is wrong already: zod measures a text that should be a list. */
function reported(issues: readonly z.core.$ZodIssue[]): readonly z.core.$ZodIssue[] {
  const mistyped = new Set(
    issues.flatMap(({ code, path }) => (code === "invalid_type" ? [path.join("\n")] : [])),
  );
  return issues.filter(({ code, path }) => code === "invalid_type" || !mistyped.has(path.join("\n")));
}

function toFieldErrors(issue: z.core.$ZodIssue, root: string): FieldError[] {
  const at = root + issue.path.map((part) => `/${escapePointer(String(part))}`).join("");
  if (issue.code === "unrecognized_keys")
    return issue.keys.map((key) => ({
      pointer: `${at}/${escapePointer(key)}`,
      code: "unknown_field",
      detail: issue.message,
    }));
  const meant = issue.code === "invalid_union" ? closest(issue.errors) : undefined;
  if (meant !== undefined) return meant.flatMap((inner) => toFieldErrors(inner, at));
  const own: unknown = issue.code === "custom" ? issue.params?.["code"] : undefined;
  const code = typeof own === "string" ? own : issue.code;
  return [{ pointer: at, code, detail: nameValue(issue.message, issue) }];
}

/** The issues of the one form of a union that a value comes closest to, if there is one. */
function closest(forms: z.core.$ZodIssue[][]): z.core.$ZodIssue[] | undefined {
  const fewest = Math.min(...forms.map(({ length }) => length));
  const nearest = forms.filter(({ length }) => length === fewest);
  return nearest.length === 1 ? nearest[0] : undefined;
}

function escapePointer(part: string): string {
  return part.replaceAll("~", "~0").replaceAll("/", "~1");
}

/** A request that is as its schemas say: what a handler takes. */
export interface Validated extends Received, OperationContext {
  /** The body's JSON before the schema has changed it. */
  parsed: unknown;
}

/** Parses body and query by the operation's schemas. @throws Problem body_malformed, validation_failed */
export const validateRequest: Step<Received, Validated> = async (context, next) => {
  const { operation, request, rawBody, time } = context;
  const isSent = operation.body !== undefined && (bodyRequired(operation) || rawBody.length > 0);
  const parsed = isSent ? parseJson(rawBody) : undefined;
  const body = operation.body ? validate(operation.body, parsed, "") : undefined;
  const query = validate(operation.query ?? noQuery, { ...request.query }, "/query");
  prefetch(time.confirm());
  return await next({
    ...context,
    parsed,
    body,
    query,
    resumes: null,
    beginEffect: async () => await time.confirm(),
  });
};
