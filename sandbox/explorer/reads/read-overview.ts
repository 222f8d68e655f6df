import { toTimestamp } from "../../../protocol/values/time.ts";
import { ConnectedChain } from "../../chain/connection/connect-chain.ts";
import type { ChainNode } from "../../chain/start-chain.ts";
import { faultIntentNames, faultLayers, placementsOf } from "../../faults/fault-matrix.ts";
import { writeOperations } from "../../faults/fault-request.ts";
import { changesChain } from "../../faults/faults.ts";
import type { Sources } from "../sources.ts";
import type { Overview } from "../views.ts";
import { isHeld, unsettledStatuses } from "./read-relay-operations.ts";
import { viewBlockPoint } from "./view-block-point.ts";

/** More than this number are not counted. */
const mostCounted = 1_000;

/** Reads the state of the sandbox at one glance; what it costs does not grow with the number of purchases. */
export async function readOverview(sources: Sources): Promise<Overview> {
  const { description, services, node, reader, faults, refusals } = sources;
  const { deployment, relayer, clock } = services;
  const unknown = await relayer.unknownOutcomes();
  const [head, now, pool, counts, programs] = await Promise.all([
    reader.head(),
    clock.now(),
    node
      .request<{ Method: "txpool_status"; Parameters?: undefined; ReturnType: { pending: string } }>({
        method: "txpool_status",
      })
      .catch(unlessOwn(sources.chain)),
    countUnsettled(sources),
    Promise.all(
      deployment.programs.map(async ({ id, name, operator }) => ({
        id,
        name,
        operator,
        gas_budget: unknown.some(({ program }) => program === id) ? null : await relayer.budget(id),
      })),
    ),
  ]);
  const { seed, mode, urls, chain, contracts } = description;
  const isPossible = (action: string) => sources.chain.isOwn || !changesChain.has(action);
  const { symbol, decimals } = deployment.token;
  return {
    seed: sources.chain.isOwn ? seed : null,
    mode,
    now: toTimestamp(now),
    block: viewBlockPoint(head),
    chain,
    anvil_restarts: sources.chain.isOwn ? sources.chain.anvil.replacements : 0,
    own_chain: sources.chain.isOwn,
    network: viewNetwork(sources.chain),
    urls,
    contracts,
    token: { symbol, decimals },
    labels: sources.labels.all(),
    programs,
    unsettled: counts,
    unknown: unknown.map(({ message }) => `${message}.`),
    pending_transactions: pool === null ? null : Number(pool.pending),
    faults: faults.list(),
    refusals: refusals.newest().length,
    fault_choices: {
      intents: faultIntentNames.filter(isPossible),
      matrix: Object.fromEntries(
        faultLayers
          .filter((layer) => layer !== "chain" || sources.chain.isOwn)
          .map((layer) => [
            layer,
            Object.fromEntries(Object.entries(placementsOf(layer)).filter(([action]) => isPossible(action))),
          ]),
      ),
      operations: writeOperations,
    },
  };
}

/** Returns a function that answers null for the failure of a node that may lack a method, and throws that of the sandbox's own. */
function unlessOwn({ isOwn }: ChainNode): (error: unknown) => null {
  return (error) => {
    if (isOwn) throw error;
    return null;
  };
}

/** Describes the network of a node; null for the sandbox's own chain. */
function viewNetwork(chain: ChainNode): Overview["network"] {
  if (!(chain instanceof ConnectedChain)) return null;
  return {
    name: chain.network?.name ?? null,
    block_explorer: chain.network?.blockExplorerUrl ?? null,
    requests: Object.fromEntries(chain.sent),
  };
}

async function countUnsettled({ services, faults }: Sources): Promise<Overview["unsettled"]> {
  const counts = new Map<string, Overview["unsettled"][number]>();
  for (const status of unsettledStatuses) {
    const found = await services.store.list("operations", { status }, { limit: mostCounted });
    for (const { value } of found) {
      const held = isHeld(value, faults);
      const key = `${value.kind} ${status} ${held}`;
      const { count } = counts.get(key) ?? { count: 0 };
      counts.set(key, { kind: value.kind, status, held, count: count + 1 });
    }
  }
  return [...counts.values()];
}
