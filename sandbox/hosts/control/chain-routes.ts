import { Router } from "express";
import { z } from "zod";
import type { Gate } from "../../../server/http/gate.ts";
import { validate } from "../../../server/http/request/validate.ts";
import { mineBlocks, setMining } from "../../chain/clock/mining.ts";
import { mostBlocks, mostMiningSeconds } from "../../chain/clock/mining-limits.ts";
import type { ChainNode } from "../../chain/genesis/start-chain.ts";
import { gatedBy } from "./gated.ts";

const travelBody = z.union(
  [z.strictObject({ seconds: z.int().positive() }), z.strictObject({ to: z.int().positive() })],
  { error: 'must be {"seconds": …} or {"to": …} with Unix seconds' },
);
const mineBody = z.strictObject({ blocks: z.int().min(1).max(mostBlocks).default(1) });
const miningBody = z.strictObject({
  every: z.union([z.enum(["transaction", "never"]), z.int().min(1).max(mostMiningSeconds)], {
    error: `must be "transaction", "never" or a whole number of seconds from 1 to ${mostMiningSeconds}`,
  }),
});

/** The part of the control API that moves time and blocks. */
export function chainRoutes({ chain, gate }: { chain: ChainNode; gate: Gate }): Router {
  const { clock, client, journal } = chain;
  const gated = gatedBy(gate);
  const router = Router();
  router.post(
    "/clock",
    gated(async (request, response) => {
      const body = validate(travelBody, request.body, "");
      const now = "seconds" in body ? await clock.travel(body.seconds) : await clock.travelTo(body.to);
      response.json({ now });
    }),
  );
  router.post(
    "/blocks",
    gated(async (request, response) => {
      const { blocks } = validate(mineBody, request.body ?? {}, "");
      await mineBlocks(client, blocks);
      await journal?.announce();
      response.json({ block_number: Number(await client.getBlockNumber({ cacheTime: 0 })) });
    }),
  );
  router.post(
    "/mining",
    gated(async (request, response) => {
      const { every } = validate(miningBody, request.body, "");
      await setMining(client, every);
      await journal?.mines(every);
      response.json({ every });
    }),
  );
  return router;
}
