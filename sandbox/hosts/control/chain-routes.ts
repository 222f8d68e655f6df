import { Router } from "express";
import { z } from "zod";
import type { Gate } from "../../../server/http/gate.ts";
import { mineBlocks, setMining } from "../../chain/clock/mining.ts";
import { mostBlocks, mostMiningSeconds } from "../../chain/clock/mining-limits.ts";
import type { ChainNode } from "../../chain/genesis/start-chain.ts";
import { gatedBy } from "./gated.ts";

const travelBody = z
  .strictObject({ seconds: z.int().positive() })
  .or(z.strictObject({ to: z.int().positive() }));
const mineBody = z.strictObject({ blocks: z.int().min(1).max(mostBlocks).default(1) });
const miningBody = z.strictObject({
  every: z.enum(["transaction", "never"]).or(z.int().min(1).max(mostMiningSeconds)),
});

/** The part of the control API that moves time and blocks. */
export function chainRoutes({ chain, gate }: { chain: ChainNode; gate: Gate }): Router {
  const { clock, client, journal } = chain;
  const gated = gatedBy(gate);
  const router = Router();
  router.post(
    "/clock",
    gated(async (request, response) => {
      const body = travelBody.parse(request.body);
      const now = "seconds" in body ? await clock.travel(body.seconds) : await clock.travelTo(body.to);
      response.json({ now });
    }),
  );
  router.post(
    "/blocks",
    gated(async (request, response) => {
      const { blocks } = mineBody.parse(request.body ?? {});
      await mineBlocks(client, blocks);
      await journal?.announce();
      response.json({ block_number: Number(await client.getBlockNumber({ cacheTime: 0 })) });
    }),
  );
  router.post(
    "/mining",
    gated(async (request, response) => {
      const { every } = miningBody.parse(request.body);
      await setMining(client, every);
      await journal?.mines(every);
      response.json({ every });
    }),
  );
  return router;
}
