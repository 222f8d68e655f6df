import { Router } from "express";
import type { Gate } from "../../../server/http/gate.ts";
import { validate } from "../../../server/http/request/validate.ts";
import { readFault } from "../../service/faults/fault-request.ts";
import type { SandboxFaults } from "../../service/faults/faults.ts";
import { gatedBy } from "./gated.ts";

/** The part of the control API that sets, lists and clears faults. */
export function faultRoutes({ faults, gate }: { faults: SandboxFaults; gate: Gate }): Router {
  const gated = gatedBy(gate);
  const router = Router();
  router.get("/faults", (_request, response) => {
    response.json({ data: faults.list() });
  });
  router.post(
    "/faults",
    gated(async (request, response) => {
      const entry = readFault(request.body, (schema, value) => validate(schema, value, ""));
      response.status(201).json(await faults.add(entry));
    }),
  );
  router.delete(
    "/faults",
    gated(async (_request, response) => {
      await faults.clear();
      response.json({ data: faults.list() });
    }),
  );
  return router;
}
