import type { Services } from "../../server/http/services.ts";
import type { ChainNode } from "../chain/start-chain.ts";
import { controlOf } from "../lib/control/operation.ts";
import { keepRequestSchema, keptSchema } from "./kept-chain.ts";
import { refusalSchema } from "./refusals.ts";

const defineControl = controlOf<{ chain: ChainNode; services: Pick<Services, "refused"> }>();

const page = { target: "store.md#the-first-process", words: "several processes" };

const addRefusal = defineControl({
  id: "addRefusal",
  method: "post",
  path: "/refusals",
  tag: "Processes",
  summary: "Adds to the explorer a transaction that a joined process has refused.",
  description: "`routing-sandbox join` sends this request.",
  page,
  body: refusalSchema,
  // As much as the calldata of a transaction, which a check shows twice.
  bodyLimit: 1_048_576,
  success: { status: 204, description: "It was added.", schema: null },
  recorded: false,
  async handle({ sandbox, body }) {
    await sandbox.services.refused(body);
  },
});

const keepChain = defineControl({
  id: "keepChain",
  method: "post",
  path: "/chain/kept",
  tag: "Processes",
  summary: "Makes the blocks durable that a commit of a joined process depends on.",
  description: "`routing-sandbox join` sends this request.",
  page,
  body: keepRequestSchema,
  bodyLimit: 1_024,
  success: {
    status: 200,
    description: "The number of kept records; null without a data directory.",
    schema: keptSchema,
  },
  recorded: false,
  async handle({ sandbox, body: { commits } }) {
    const { journal } = sandbox.chain;
    journal?.committed(commits);
    return { records: (await journal?.announce()) ?? null };
  },
});

/** The requests of other processes of the sandbox. They change nothing that is recorded. */
export const clusterOperations = [addRefusal, keepChain];
