import { types } from "node:util";
import { CodedError } from "../../protocol/coded-error.ts";
import type { components } from "./api.generated.ts";
import { describeCheck, shortText } from "./describe-check.ts";

type ApiProblem = components["schemas"]["Problem"];

/** The members of a problem that the description names. */
type Member = keyof { [M in keyof ApiProblem as string extends M ? never : M]: unknown };

/** A refusal: a problem of the routing API, or of the control API, which has fewer members. */
type ProblemBody = Pick<ApiProblem, "status" | "detail"> & { code: string } & Partial<
    Pick<ApiProblem, Exclude<Member, "status" | "detail" | "code">>
  >;

/** One check of a transaction, with the expected and the actual value. */
export type ProblemCheck = components["schemas"]["BindingReport"]["checks"][number];

/**
 * Thrown when the routing API or the control API refuses a request. The message has the status, code and detail, each failed check with both sides, each invalid field, and
 * the request id.
 *
 * @example if (error instanceof ProblemError && error.code === "binding_mismatch") console.log(error.checks);
 */
export class ProblemError extends CodedError {
  override readonly name = "ProblemError";
  readonly status: number;
  readonly detail: string;
  /** The request id of the answer; empty for the control API, which has none. */
  readonly requestId: string;
  /** All checks of a refused transaction, including those that passed; empty for other refusals. */
  readonly checks: readonly ProblemCheck[];
  /** The whole problem of the answer. */
  readonly problem: ProblemBody;

  constructor(problem: ProblemBody) {
    super(problem.code, describeProblem(problem));
    this.status = problem.status;
    this.detail = problem.detail;
    this.requestId = problem.request_id ?? "";
    this.checks = problem.binding?.checks ?? [];
    this.problem = problem;
  }
}

/**
 * Returns the data of an answer.
 *
 * @throws ProblemError when the API refused the request; Error when the answer is neither data nor a problem.
 * @example const merchant = unwrap(await client.POST("/v1/routing/programs/{program}/merchants", { params, body }));
 */
export function unwrap<T>(answer: { data?: T; error?: unknown; response?: Response }): T {
  const given: unknown = answer;
  if (typeof given !== "object" || given === null || types.isPromise(given))
    throw new TypeError(
      "unwrap takes the awaited response to a request. Pass it as in unwrap(await client.GET(…)).",
    );
  const { data, error, response } = answer;
  if (data !== undefined) return data;
  if (isProblem(error)) throw new ProblemError(error);
  const status = response === undefined ? "" : ` with the status ${response.status}`;
  throw new Error(
    `The response${status} has neither data nor a problem: ${shortText(error)}. Check that the URL is the routing API's.`,
  );
}

/** Returns whether a value is a problem of the routing API or the control API. */
export function isProblem(value: unknown): value is ProblemBody {
  return (
    typeof value === "object" &&
    value !== null &&
    hasType(value, "string", "code", "detail") &&
    hasType(value, "number", "status")
  );
}

/** Returns a problem in words, a line for each failed check and each field error. */
export function describeProblem({ status, code, detail, errors, binding, request_id }: ProblemBody): string {
  const failed = binding?.checks.filter(({ ok }) => !ok) ?? [];
  return [
    `The API responded with ${status} ${code}: ${detail}`,
    ...failed.map((check) => `  ✗ ${describeCheck(check)}`),
    // The detail is the first field error.
    ...(errors ?? []).slice(1).map((error) => `  ${error.pointer} ${error.detail}`),
    ...(request_id === undefined ? [] : [`  request ${request_id}`]),
  ].join("\n");
}

function hasType(value: object, type: "string" | "number", ...names: string[]): boolean {
  return names.every((name) => typeof Reflect.get(value, name) === type);
}
