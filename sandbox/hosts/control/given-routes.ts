import express, { Router } from "express";
import { limits } from "../../../server/api/limits.ts";
import type { Given } from "../../service/given/given.ts";

/**
 * The part of the control API that gives states and delivers. To be served before what a recording notes: it notes the requests and
 * transactions that are made.
 */
export function givenRoutes({ given }: { given: Pick<Given, "request" | "deliveries"> }): Router {
  const router = Router();
  router.post(
    "/given",
    express.json({ limit: limits.body_bytes, strict: false }),
    async (request, response) => {
      response.status(201).json(await given.request(request.body));
    },
  );
  router.post("/deliver", async (_request, response) => {
    response.json({ notifications: await given.deliveries.all() });
  });
  return router;
}
