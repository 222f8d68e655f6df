import { Router } from "express";

/** The part of the control API that saves the sandbox. To be served before what is held back: it waits for all of that itself. */
export function snapshotFileRoutes({
  encodeSnapshot,
}: {
  encodeSnapshot: () => Promise<Uint8Array>;
}): Router {
  const router = Router();
  router.get("/snapshot", async (_request, response) => {
    response.type("application/octet-stream").send(Buffer.from(await encodeSnapshot()));
  });
  return router;
}
