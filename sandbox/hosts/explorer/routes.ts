import { Router } from "express";
import { z } from "zod";
import { Problem } from "../../../server/errors/problem.ts";
import { pageQuery } from "./page.ts";
import { readBlocks } from "./read-blocks.ts";
import { eventsQuery, readEvents } from "./read-events.ts";
import { readMerchants } from "./read-merchants.ts";
import { operationsQuery, readOperations } from "./read-operations.ts";
import { readOverview } from "./read-overview.ts";
import { purchasesQuery, readPurchases } from "./read-purchases.ts";
import { readRefusals } from "./read-refusals.ts";
import { readStory } from "./read-story.ts";
import { search } from "./search.ts";
import type { Sources } from "./sources.ts";

const cursorNumber = z
  .string()
  .regex(/^\d{1,15}$/, "is no next_cursor of this list")
  .optional();
const blocksQuery = z.strictObject({ cursor: cursorNumber });
const refusalsQuery = pageQuery.extend({ cursor: cursorNumber });
const searchQuery = z.strictObject({ q: z.string().trim().min(1).max(200) });

/** The routes that the explorer reads; each answers with a type of `shown.ts` and changes nothing. */
export function explorerRoutes(sources: Sources): Router {
  const router = Router();
  router.use((_request, response, next) => {
    response.set("Cache-Control", "no-store");
    next();
  });
  router.get("/overview", async (_request, response) => {
    response.json(await readOverview(sources));
  });
  router.get("/purchases", async (request, response) => {
    response.json(
      await readPurchases(await known("purchases", purchasesQuery.parse(request.query)), sources),
    );
  });
  router.get("/purchases/:id", async (request, response) => {
    const story = await readStory(request.params.id, sources);
    if (story === null) throw new Problem("not_found", `There is no purchase ${request.params.id}.`);
    response.json(story);
  });
  router.get("/merchants", async (request, response) => {
    response.json(await readMerchants(await known("merchants", pageQuery.parse(request.query)), sources));
  });
  router.get("/operations", async (request, response) => {
    response.json(
      await readOperations(await known("operations", operationsQuery.parse(request.query)), sources),
    );
  });
  router.get("/events", async (request, response) => {
    response.json(await readEvents(await known("events", eventsQuery.parse(request.query)), sources));
  });
  router.get("/refusals", (request, response) => {
    response.json(readRefusals(refusalsQuery.parse(request.query), sources));
  });
  router.get("/blocks", async (request, response) => {
    response.json(await readBlocks(blocksQuery.parse(request.query).cursor, sources));
  });
  router.get("/search", async (request, response) => {
    response.json({ data: await search(searchQuery.parse(request.query).q, sources) });
  });
  return router;

  /** A cursor names a record; one that a restore took away begins nowhere. */
  async function known<Q extends { cursor?: string | undefined }>(
    collection: "purchases" | "merchants" | "operations" | "events",
    query: Q,
  ): Promise<Q> {
    if (query.cursor === undefined || (await sources.services.store.get(collection, query.cursor)))
      return query;
    throw new Problem("not_found", "The cursor is not one of this list any more; read it from its start.");
  }
}
