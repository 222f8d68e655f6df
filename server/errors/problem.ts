import { CodedError } from "../../protocol/coded-error.ts";
import type { Json } from "../../protocol/values/json.ts";
import { escapeControls } from "../lib/escape-controls.ts";
import { type ErrorCode, errorCatalogue } from "./catalogue.ts";

/** An error in one field of a request, with the field's JSON pointer (RFC 6901). */
export interface FieldError {
  pointer: string;
  code: string;
  detail: string;
}

/** A refusal with a code of the catalogue; thrown by operations, answered as application/problem+json (RFC 9457). */
export class Problem extends CodedError<ErrorCode> {
  override name = "Problem";
  readonly status: number;
  /** Members besides the standard ones, such as `current_state` or `binding`. */
  readonly members: { [name: string]: Json };
  readonly errors: readonly FieldError[];
  readonly headers: { [name: string]: string };
  /** Whether the identical request may succeed later. */
  readonly retryable: boolean;
  /** Whether the request had an effect anyway, as a transaction that was mined and reverted: its key stays with it. */
  readonly hadEffect: boolean;

  constructor(
    code: ErrorCode,
    detail: string,
    more: {
      members?: { [name: string]: Json };
      errors?: readonly FieldError[];
      headers?: { [name: string]: string };
      /** As the catalogue says by default; false where that leaves it to the cause. */
      retryable?: boolean;
      hadEffect?: boolean;
      cause?: unknown;
    } = {},
  ) {
    // It can quote what a client has sent, decoded.
    super(code, escapeControls(detail), "cause" in more ? { cause: more.cause } : {});
    this.status = errorCatalogue[code].status;
    this.members = more.members ?? {};
    this.errors = more.errors ?? [];
    this.headers = more.headers ?? {};
    this.retryable = more.retryable ?? errorCatalogue[code].retryable ?? false;
    this.hadEffect = more.hadEffect ?? false;
  }

  /** The same refusal, of a request that had an effect. */
  afterEffect(): Problem {
    const { code, message, members, errors, headers, retryable } = this;
    return new Problem(code, message, { members, errors, headers, retryable, hadEffect: true });
  }
}

/**
 * Refuses a request for everything that was found in it.
 *
 * @throws Problem validation_failed unless nothing was found.
 */
export function assertNoFieldErrors(errors: readonly FieldError[]): void {
  const [first] = errors;
  if (first) throw new Problem("validation_failed", `${first.pointer} ${first.detail}`, { errors });
}
