import type { z } from "zod";
import { CodedError } from "../../../protocol/coded-error.ts";
import { problemSchema } from "../../../server/schemas/problem.ts";

type Problem = z.output<typeof problemSchema>;

/** The API refused a request; the message is the problem's own. */
export class ProblemError extends CodedError {
  override readonly name = "ProblemError";
  readonly status: number;
  readonly detail: string;
  readonly requestId: string;
  /** The whole problem as it was answered. */
  readonly problem: Problem;

  constructor(problem: Problem) {
    const { status, code, detail, request_id } = problem;
    super(code, `The API answered ${status} ${code}: ${detail}`);
    this.status = status;
    this.detail = detail;
    this.requestId = request_id;
    this.problem = problem;
  }
}

/**
 * Returns the data of an answer.
 *
 * @throws ProblemError when the API refused.
 */
export function unwrap<T>({ data, error }: { data?: T; error?: unknown }): T {
  if (data !== undefined) return data;
  throw new ProblemError(problemSchema.parse(error));
}
