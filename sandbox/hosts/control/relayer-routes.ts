import { Router } from "express";
import { z } from "zod";
import { relayOperationKinds } from "../../../relayer/journal/relay-operation-kind.ts";
import { faultActions, faultPoints, type Relayer } from "../../../relayer/relayer.ts";
import type { Gate } from "../../../server/http/gate.ts";
import { validate } from "../../../server/http/request/validate.ts";
import { definedOnly } from "../../lib/defined-only.ts";
import { gatedBy } from "./gated.ts";

const resumeBody = z.strictObject({ abandon: z.boolean().default(false) });
const faultBody = z.strictObject({
  point: z.enum(faultPoints),
  action: z.enum(faultActions),
  match: z
    .strictObject({
      operation_id: z.string().optional(),
      program: z.string().optional(),
      kind: z.enum(relayOperationKinds).optional(),
      subject_id: z.string().optional(),
    })
    .optional(),
  count: z.int().min(1, "is from 1, or null for always").nullable().optional(),
  depth: z.int().positive().optional(),
});

/** The part of the control API that is about the relayer: its faults, and operations that need attention. */
export function relayerRoutes({ relayer, gate }: { relayer: Relayer; gate: Gate }): Router {
  const gated = gatedBy(gate);
  const router = Router();
  router.get("/faults", (_request, response) => {
    response.json({ data: relayer.faults() });
  });
  router.post(
    "/faults",
    gated((request, response) => {
      const { point, action, match, count, depth } = validate(faultBody, request.body, "");
      const fault = relayer.fault({
        point,
        action,
        ...(match === undefined ? {} : { match: definedOnly(match) }),
        ...(count === undefined ? {} : { count }),
        ...(depth === undefined ? {} : { depth }),
      });
      response.status(201).json(fault);
    }),
  );
  router.delete(
    "/faults",
    gated(async (_request, response) => {
      await relayer.clearFaults();
      response.json({ data: relayer.faults() });
    }),
  );
  // What a person does who has looked at foreign use of a signer.
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
