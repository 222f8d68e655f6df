import type { Json } from "../../../protocol/values/json.ts";
import { errorCatalogue } from "../../errors/catalogue.ts";
import type { Problem } from "../../errors/problem.ts";

/** An answer whose body is fixed to the byte. */
export interface Answer {
  status: number;
  /** As bytes when it was encoded before. */
  body: string | Buffer;
  headers: { [name: string]: string };
}

/** Builds a JSON answer. */
export function jsonAnswer(status: number, body: Json, headers?: Answer["headers"]): Answer {
  return serializedAnswer(status, JSON.stringify(body), headers);
}

/** Builds a JSON answer of what was serialized before. */
export function serializedAnswer(status: number, body: Answer["body"], headers?: Answer["headers"]): Answer {
  return { status, body, headers: { "Content-Type": "application/json; charset=utf-8", ...headers } };
}

/** Builds the answer of a refusal: application/problem+json (RFC 9457). */
export function problemAnswer(
  problem: Problem,
  where: { docsUrl: string; instance: string; requestId: string },
): Answer {
  const { title } = errorCatalogue[problem.code];
  const body: Json = {
    type: `${where.docsUrl}/errors/${problem.code}`,
    title,
    status: problem.status,
    code: problem.code,
    detail: problem.message,
    instance: where.instance,
    request_id: where.requestId,
    retryable: problem.retryable,
    ...(problem.errors.length > 0 ? { errors: problem.errors.map((error) => ({ ...error })) } : {}),
    ...problem.members,
  };
  return {
    status: problem.status,
    body: JSON.stringify(body),
    headers: { "Content-Type": "application/problem+json; charset=utf-8", ...problem.headers },
  };
}
