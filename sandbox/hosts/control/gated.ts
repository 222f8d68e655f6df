import type { Request, RequestHandler, Response } from "express";
import type { Gate } from "../../../server/http/gate.ts";

/** Makes handlers run inside the gate: before a snapshot or a restore, or after it. Their bodies are there by then. */
export function gatedBy(
  gate: Gate,
): <P>(handle: (request: Request<P>, response: Response) => Promise<void> | void) => RequestHandler<P> {
  return (handle) => async (request, response) => {
    const what = `${request.method} ${request.path} of the control API`;
    await gate.runShared(what, async () => await handle(request, response));
  };
}
