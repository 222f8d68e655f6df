import type { IncomingHttpHeaders } from "node:http";
import type { Problem } from "../../errors/problem.ts";
import { redact } from "../redact.ts";
import { requestNames } from "../request/request-id.ts";
import type { Services } from "../services.ts";
import { type Answer, problemAnswer } from "./answer.ts";

/**
 * A function that answers for a host a request that is refused before the host sees it.
 *
 * @param asked - what is known of the request; of bytes that are none, no method, the path `/` and no headers.
 */
export type RefusalForm = (
  problem: Problem,
  asked: { method: string | null; path: string; headers: IncomingHttpHeaders },
) => Answer;

/** Answers as the API answers its own refusals: with a code, a page that explains it and a request id, which the log names. */
export function problemRefusals(services: Services): RefusalForm {
  const nextRequestId = requestNames(services);
  return (problem, { method, path }) => {
    const requestId = nextRequestId();
    const { code, status } = problem;
    const fields = { request_id: requestId, method, path, status, code, caller: "anyone", replayed: false };
    services.log.info({ ...fields, path: redact(path) }, "request");
    const { docs } = services.settings.urls;
    const unread = { operation: null, idempotency_key: null, at: null, body: null };
    const answer = problemAnswer(problem, { docsUrl: docs, instance: path, requestId });
    services.answered({ ...fields, ...unread, method: method ?? "", answer: answer.body });
    const headers = { "X-Request-Id": requestId, "Cache-Control": "no-store", ...answer.headers };
    return { ...answer, headers };
  };
}
