import type { Json } from "../../protocol/values/json.ts";
import type { Outcome } from "./operation.ts";

/** The outcome of a request that changes no record. */
export function answerUnchanged(status: number, body: Json): Outcome {
  return { kind: "write", status, write: () => ({ changes: [], body }) };
}

/** The outcome of an effect that is not confirmed yet: 202, and the identical request continues with it. */
export function pendingAnswer(body: Json): Outcome {
  return answerUnchanged(202, body);
}
