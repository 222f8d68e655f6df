import { AbortSignal } from "../../../protocol/globals.ts";
import { Problem } from "../../api/errors/problem.ts";
import type { Answer } from "../answers/answer.ts";
import type { Operation, OperationContext } from "../operation.ts";
import type { ApiFaultPoint } from "./api-fault.ts";

/**
 * The answer of a request is lost on its way; `sent` is the one of which the client gets the beginning, or null for none of it.
 *
 * Not a CodedError: the host drops the connection, so no client reads a code.
 */
export class AnswerLostError extends Error {
  override readonly name = "AnswerLostError";
  readonly sent: Answer | null;

  constructor(sent: Answer | null) {
    super("The response was lost (fault).");
    this.sent = sent;
  }
}

const headers = { "Retry-After": "1" };

/**
 * Lets the first fault act that is set for a write at a point.
 *
 * @param answer - the answer that is about to be sent; null before there is one.
 * @throws Problem rate_limited, rpc_unavailable; AnswerLostError; UndoneError when everything is undone during a delay.
 */
export async function meetApiFault(
  point: ApiFaultPoint,
  { id: operation, method, idempotent }: Operation,
  { services, program, id, outside, confirmTime }: OperationContext,
  answer: Answer | null,
): Promise<void> {
  if (method !== "post") return;
  const { apiFaults, wait, closing } = services;
  if (!apiFaults.areLeft()) return;
  await confirmTime();
  const fault = apiFaults.take(point, { operation, program: program.id, subject_id: id, idempotent });
  switch (fault?.action) {
    case "429":
      throw new Problem(
        "rate_limited",
        "A fault of the sandbox responds with 429. Send the identical request again.",
        { headers },
      );
    case "503":
      throw new Problem(
        "rpc_unavailable",
        "A fault of the sandbox responds with 503. Send the identical request again.",
        { headers },
      );
    case "delay":
      return await outside(
        async (undone) => await wait(fault.delay_ms ?? 0, AbortSignal.any([undone, closing])),
      );
    case "reset":
    case "partial":
      throw new AnswerLostError(fault.action === "partial" ? answer : null);
    case "crash":
      return await apiFaults.crash();
    default:
  }
}
