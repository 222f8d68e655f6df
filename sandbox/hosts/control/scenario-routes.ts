import express, { Router } from "express";
import { z } from "zod";
import { limits } from "../../../server/api/limits.ts";
import { validate } from "../../../server/http/request/validate.ts";
import type { Recorder } from "../recorder/recorder.ts";

const startBody = z.strictObject({ title: z.string().min(1).max(200) });

/** The part of the control API that records a scenario. */
export function scenarioRoutes({ recorder }: { recorder: Recorder }): Router {
  const router = Router();
  router.get("/scenario", (_request, response) => {
    response.json({ recording: recorder.steps !== null, steps: recorder.steps });
  });
  router.post("/scenario", express.json({ limit: limits.body_bytes }), async (request, response) => {
    const { title } = validate(startBody, request.body, "");
    await recorder.start(title);
    response.status(201).json({ recording: true, steps: 0 });
  });
  router.delete("/scenario", async (_request, response) => {
    response.json(await recorder.stop());
  });
  return router;
}
