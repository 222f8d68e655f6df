import { Router } from "express";
import { z } from "zod";
import { Problem } from "../../../server/api/errors/problem.ts";
import { validate } from "../../../server/http/request/validate.ts";
import { pageQuery } from "./reads/page.ts";
import { readBlocks } from "./reads/read-blocks.ts";
import { eventsQuery, readEvents } from "./reads/read-events.ts";
import { readMerchants } from "./reads/read-merchants.ts";
import { readOverview } from "./reads/read-overview.ts";
import { purchasesQuery, readPurchases } from "./reads/read-purchases.ts";
import { readRefusals } from "./reads/read-refusals.ts";
import { operationsQuery, readRelayOperations } from "./reads/read-relay-operations.ts";
import { search } from "./search.ts";
import type { Sources } from "./sources.ts";
import { readTimeline } from "./timeline/read-timeline.ts";

const cursorNumber = z
  .string()
  .regex(/^\d{1,15}$/, "is no next_cursor of this list")
  .optional();
const blocksQuery = z.strictObject({ cursor: cursorNumber });
const refusalsQuery = pageQuery.extend({ cursor: cursorNumber });
const searchQuery = z.strictObject({ q: z.string().trim().min(1).max(200) });

/** The routes that the explorer reads; each answers with a type of `views.ts` and changes nothing. */
export function explorerRoutes(sources: Sources): Router {
  const router = Router();
  router.use((_request, response, next) => {
    response.set("Cache-Control", "no-store");
    next();
  });
  router.get("/overview", async (_request, response) => {
    response.json(await readOverview(sources));
  });
  list("purchases", purchasesQuery, readPurchases);
  router.get("/purchases/:id", async (request, response) => {
    const timeline = await readTimeline(request.params.id, sources);
    if (timeline === null) throw new Problem("not_found", `There is no purchase ${request.params.id}.`);
    response.json(timeline);
  });
  list("merchants", pageQuery, readMerchants);
  list("operations", operationsQuery, readRelayOperations);
  list("events", eventsQuery, readEvents);
  router.get("/refusals", (request, response) => {
    response.json(readRefusals(validate(refusalsQuery, request.query, "/query"), sources));
  });
  router.get("/blocks", async (request, response) => {
    response.json(await readBlocks(validate(blocksQuery, request.query, "/query").cursor, sources));
  });
  router.get("/search", async (request, response) => {
    response.json({ data: await search(validate(searchQuery, request.query, "/query").q, sources) });
  });
  return router;

  /** A list of records: a cursor names one of them, and one that a restore took away begins nowhere. */
  function list<Q extends { cursor?: string | undefined }>(
    collection: "purchases" | "merchants" | "operations" | "events",
    querySchema: z.ZodType<Q>,
    read: (query: Q, sources: Sources) => Promise<unknown>,
  ): void {
    router.get(`/${collection}`, async (request, response) => {
      const query = validate(querySchema, request.query, "/query");
      const { cursor } = query;
      if (cursor !== undefined && !(await sources.services.store.get(collection, cursor)))
        throw new Problem(
          "not_found",
          "The cursor is not one of this list any more; read it from its start.",
        );
      response.json(await read(query, sources));
    });
  }
}
