import { z } from "zod";
import type { Gate } from "../../server/http/gate.ts";
import { mineBlocks, portionsOf, setMining } from "../chain/clock/mining.ts";
import { mostBlocks, mostMiningSeconds } from "../chain/clock/mining-limits.ts";
import type { ChainNode } from "../chain/start-chain.ts";
import { controlOf } from "../lib/control/operation.ts";
import { undoneRequest } from "../lib/control/undoable-calls.ts";

const defineControl = controlOf<{ chain: ChainNode; gate: Gate }>();

const travelBody = z
  .union([z.strictObject({ seconds: z.int().positive() }), z.strictObject({ to: z.int().positive() })], {
    error: 'must be {"seconds": …} or {"to": …} with Unix seconds',
  })
  .meta({ id: "Travel", description: "The seconds to move forward by, or the Unix time to move to." });
const mineBody = z.strictObject({ blocks: z.int().min(1).max(mostBlocks).default(1) }).meta({ id: "Mine" });
const everySchema = z.union([z.enum(["transaction", "never"]), z.int().min(1).max(mostMiningSeconds)], {
  error: `must be "transaction", "never" or a whole number of seconds from 1 to ${mostMiningSeconds}`,
});
const miningBody = z.strictObject({ every: everySchema }).meta({ id: "Mining" });

const travel = defineControl({
  id: "travel",
  method: "post",
  path: "/clock",
  tag: "Time",
  summary: "Moves API and chain time forward, and mines a block.",
  description: "The body has either `seconds` to move by, or `to`, a time in Unix seconds.",
  page: { target: "time.md", words: "time" },
  body: travelBody,
  example: { seconds: 60 },
  success: {
    status: 200,
    description: "The time, in Unix seconds.",
    schema: z.object({ now: z.int() }).meta({ id: "Now" }),
  },
  errors: ["time_invalid"],
  gated: true,
  needsOwnChain: true,
  async handle({ sandbox, body }) {
    const { clock } = sandbox.chain;
    return { now: "seconds" in body ? await clock.travel(body.seconds) : await clock.travelTo(body.to) };
  },
});

const mine = defineControl({
  id: "mine",
  method: "post",
  path: "/blocks",
  tag: "Time",
  summary: "Mines `blocks` blocks, or one block.",
  body: mineBody,
  example: { blocks: 5 },
  success: {
    status: 200,
    description: "The number of the newest block.",
    schema: z.object({ block_number: z.int() }).meta({ id: "NewestBlock" }),
  },
  needsOwnChain: true,
  async handle({ sandbox: { chain, gate }, body: { blocks } }) {
    const { client, journal } = chain;
    const { undone } = gate;
    for (const portion of portionsOf(blocks))
      await gate.runShared("POST /blocks of the control API", async () => {
        if (undone.aborted) throw undoneRequest();
        const make = async () => await mineBlocks(client, portion);
        await (journal === null ? make() : journal.mine(make));
      });
    return { block_number: Number(await client.getBlockNumber({ cacheTime: 0 })) };
  },
});

const chooseMining = defineControl({
  id: "chooseMining",
  method: "post",
  path: "/mining",
  tag: "Time",
  summary: "Chooses when blocks are mined: for each transaction, never, or every given number of seconds.",
  description: 'With `"transaction"`, the response is sent when all waiting transactions are mined.',
  body: miningBody,
  example: { every: "transaction" },
  success: {
    status: 200,
    description: "The mining mode.",
    schema: z.object({ every: everySchema }).meta({ id: "MiningChoice" }),
  },
  gated: true,
  needsOwnChain: true,
  async handle({ sandbox, body: { every } }) {
    const { client, journal } = sandbox.chain;
    await setMining(client, every);
    await journal?.mines(every);
    return { every };
  },
});

/** The operations on time and blocks. */
export const clockOperations = [travel, mine, chooseMining];
