import { AbortSignal } from "../../../protocol/globals.ts";
import { Problem } from "../../errors/problem.ts";
import type { Answer } from "../answers/answer.ts";
import type { Claimed } from "../repeat-answer.ts";
import type { Validated } from "../request/validate.ts";
import type { Step } from "../step.ts";
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

/** Lets a fault act on a write of which nothing is recorded. */
export const failBeforeCommit: Step<Claimed, Claimed> = async (context, next) => {
  await applyApiFault("before_commit", context, null);
  return await next(context);
};

/** Lets a fault act on a write whose answer is stored, and not sent. */
export const failAfterCommit: Step<Validated, Validated> = async (context, next) => {
  const answer = await next(context);
  await applyApiFault("after_commit", context, answer);
  return answer;
};

/**
 * Lets the first fault act that is set for a write at a point.
 *
 * @param answer - the answer that is about to be sent; null before there is one.
 * @throws Problem rate_limited, rpc_unavailable; AnswerLostError; UndoneError when everything is undone during a delay.
 */
async function applyApiFault(
  point: ApiFaultPoint,
  { operation, services, program, id, releaseGate, confirmTime }: Validated,
  answer: Answer | null,
): Promise<void> {
  if (operation.method !== "post") return;
  const { apiFaults, wait, closing } = services;
  if (!apiFaults.areLeft()) return;
  await confirmTime();
  const { idempotent } = operation;
  const subject = { operation: operation.id, program: program.id, subject_id: id, idempotent };
  const fault = apiFaults.take(point, subject);
  if (fault === null) return;
  // The compiler names an action that has no case here.
  switch (fault.action) {
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
      return await releaseGate(
        async (undone) => await wait(fault.delay_ms ?? 0, AbortSignal.any([undone, closing])),
      );
    case "reset":
    case "partial":
      throw new AnswerLostError(fault.action === "partial" ? answer : null);
    case "crash":
      return await apiFaults.crash();
    default:
      return fault.action satisfies never;
  }
}
