import express, { type Express, type NextFunction, type Request, type Response, Router } from "express";
import type { Hex } from "viem";
import { z } from "zod";
import type { Relayer } from "../../../relayer/relayer.ts";
import { limits } from "../../../server/api/limits.ts";
import { hashSchema } from "../../../server/api/schemas/primitives.ts";
import { methodNotAllowed } from "../../../server/http/app.ts";
import type { Gate } from "../../../server/http/gate.ts";
import { hasBody, requireJsonType } from "../../../server/http/request/read-body.ts";
import { validate } from "../../../server/http/request/validate.ts";
import type { KeyUse } from "../../../server/keys/key-use.ts";
import type { Services } from "../../../server/services.ts";
import type { ChainNode } from "../../chain/genesis/start-chain.ts";
import { keptChainRoutes } from "../../service/cluster/kept-chain.ts";
import { refusalRoutes } from "../../service/cluster/refusals.ts";
import type { SandboxFaults } from "../../service/faults/faults.ts";
import type { Given } from "../../service/given/given.ts";
import type { SandboxReceiver } from "../../service/receiver/receiver.ts";
import type { SandboxDescription } from "../../state/description.ts";
import type { Snapshot } from "../../state/snapshot.ts";
import type { ExplainOptions } from "../explain/explain-transaction.ts";
import type { Explanation } from "../explain/explanation.ts";
import type { Explorer } from "../explorer/explorer.ts";
import type { Recorder } from "../recorder/recorder.ts";
import { chainRoutes } from "./chain-routes.ts";
import { faultRoutes } from "./fault-routes.ts";
import { givenRoutes } from "./given-routes.ts";
import { receiverRoutes } from "./receiver-routes.ts";
import { refuse, refuseError } from "./refuse-error.ts";
import { relayerRoutes } from "./relayer-routes.ts";
import { scenarioRoutes } from "./scenario-routes.ts";
import { snapshotFileRoutes } from "./snapshot-file-routes.ts";
import { snapshotRoutes } from "./snapshot-routes.ts";

/** The parts of a sandbox that the control API reads and changes. */
export interface ControlledSandbox {
  description: SandboxDescription;
  chain: ChainNode;
  relayer: Relayer;
  faults: SandboxFaults;
  receiver: SandboxReceiver;
  rotateKeys: (...uses: KeyUse[]) => Promise<void>;
  explain: (hash: Hex, options: ExplainOptions) => Promise<Explanation>;
  explorer: Explorer;
  gate: Gate;
  recorder: Recorder;
  given: Pick<Given, "request" | "deliveries">;
  /** Captures and encodes the content of a snapshot file. */
  encodeSnapshot: () => Promise<Uint8Array>;
  snapshot: () => Promise<Snapshot>;
  services: Pick<Services, "refused">;
}

/**
 * The control API: what a tester does to the sandbox itself. It never is part of the routing API. Its listener keeps every
 * page out but the explorer, which it serves itself.
 */
export function createControlHost(sandbox: ControlledSandbox): Express {
  const app = express();
  app.disable("x-powered-by");
  app.use((request, response, next) => {
    // Before any parser: it would leave out a body of another type, and its defaults would be done instead.
    if (hasBody(request)) requireJsonType(request);
    // Every body is taken; the listener has refused all other expectations.
    if (request.headers.expect !== undefined) response.writeContinue();
    next();
  });
  const unrecorded = [
    snapshotFileRoutes(sandbox),
    refusalRoutes(sandbox.services),
    keptChainRoutes(sandbox.chain.journal),
    snapshotRoutes(sandbox),
    scenarioRoutes(sandbox),
    givenRoutes(sandbox),
  ];
  const recorded = [
    statusRoutes(sandbox),
    chainRoutes(sandbox),
    faultRoutes(sandbox),
    relayerRoutes(sandbox),
    receiverRoutes(sandbox),
    sandbox.explorer.routes,
  ];
  app.use(unrecorded);
  app.use(sandbox.recorder.control());
  app.use(express.json({ limit: limits.body_bytes, strict: false }));
  app.use(recorded);
  refuseOtherMethods(app, [...unrecorded, ...recorded]);
  app.use((request, response) =>
    refuse(response, 404, `There is nothing at ${request.method} ${request.path}.`),
  );
  app.use((error: unknown, _request: Request, response: Response, _next: NextFunction) =>
    refuseError(error, response),
  );
  return app;
}

const explainQuery = z.strictObject({ for: z.string().optional() });

/** The part of the control API that describes the sandbox and its transactions. */
function statusRoutes(sandbox: ControlledSandbox): Router {
  const router = Router();
  router.get("/status", async (_request, response) => {
    response.json(await readStatus(sandbox));
  });
  router.get("/explain/:hash", async (request, response) => {
    const hash = validate(hashSchema, request.params.hash, "/hash");
    response.json(await sandbox.explain(hash, validate(explainQuery, request.query, "/query")));
  });
  return router;
}

/** Answers every other method on a path that is served, with those that it has. */
function refuseOtherMethods(app: Express, routers: readonly Router[]): void {
  const methods = new Map<string, string[]>();
  for (const { route } of routers.flatMap(({ stack }) => stack))
    if (route !== undefined)
      methods.set(route.path, [
        ...(methods.get(route.path) ?? []),
        ...route.stack.map(({ method }) => method),
      ]);
  for (const [path, known] of methods)
    app.route(path).all(() => {
      throw methodNotAllowed([...new Set(known)]);
    });
}

async function readStatus({ description, chain, faults }: ControlledSandbox) {
  const { seed, mode, pid, urls } = description;
  const block = await chain.client.getBlock({ blockTag: "latest" });
  return {
    version: 1,
    seed,
    mode,
    pid,
    urls,
    explorer: `${urls.control}/`,
    chain: { ...description.chain, block_number: Number(block.number), block_hash: block.hash },
    now: await chain.clock.now(),
    faults: faults.list(),
  };
}
