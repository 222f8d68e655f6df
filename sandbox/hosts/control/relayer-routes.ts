import { Router } from "express";
import { z } from "zod";
import type { Relayer } from "../../../relayer/relayer.ts";
import type { Gate } from "../../../server/http/gate.ts";
import { validate } from "../../../server/http/request/validate.ts";
import { gatedBy } from "./gated.ts";

const resumeBody = z.strictObject({ abandon: z.boolean().default(false) });

/** The part of the control API that is about the relayer's operations that need attention. */
export function relayerRoutes({ relayer, gate }: { relayer: Relayer; gate: Gate }): Router {
  const gated = gatedBy(gate);
  const router = Router();
  // The call of a person who has found out which other software used a signer.
  router.post(
    "/operations/:id/resume",
    gated<{ id: string }>(async (request, response) => {
      const { abandon } = validate(resumeBody, request.body ?? {}, "");
      const { id } = request.params;
      response.json(abandon ? await relayer.abandon(id) : await relayer.resume(id));
    }),
  );
  return router;
}
