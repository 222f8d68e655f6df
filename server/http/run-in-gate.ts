import type { Request } from "express";
import { EndedError, type GateTurn, UndoneError } from "./gate.ts";
import type { Asked, Step } from "./step.ts";

/** A request inside of the request gate. */
export interface Entered extends Asked, GateTurn {}

/**
 * Runs the request inside the gate; one that a restore undid while it waited outside comes after that restore.
 *
 * @throws EndedError
 */
export const runInGate: Step<Asked, Entered> = async (context, next) => {
  const { gate } = context.services;
  const { ended } = gate;
  const run = async ({ releaseGate }: GateTurn) => {
    if (ended.aborted) throw new EndedError();
    return await next({ ...context, releaseGate });
  };
  for (;;) {
    try {
      return await gate.runShared(nameRequest(context.request), run);
    } catch (error) {
      if (!(error instanceof UndoneError)) throw error;
    }
  }
};

/** Names a request as the request gate names it. */
export function nameRequest({ method, path }: Pick<Request, "method" | "path">): string {
  return `${method} ${path}`;
}
