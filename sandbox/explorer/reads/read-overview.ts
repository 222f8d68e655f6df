import { toTimestamp } from "../../../protocol/values/time.ts";
import { faultIntentNames, faultLayers, placementsOf } from "../../faults/fault-matrix.ts";
import { writeOperations } from "../../faults/fault-request.ts";
import type { Sources } from "../sources.ts";
import type { Overview } from "../views.ts";
import { viewBlockPoint } from "./view-block-point.ts";

/** The statuses that are not final; each status is an index, and none of them is long in a sandbox that works. */
const unsettled = ["accepted", "signed", "broadcast", "mined", "needs_attention"] as const;
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
    node.request<{ Method: "txpool_status"; Parameters?: undefined; ReturnType: { pending: string } }>({
      method: "txpool_status",
    }),
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
  const { symbol, decimals } = deployment.token;
  return {
    seed,
    mode,
    now: toTimestamp(now),
    block: viewBlockPoint(head),
    chain,
    anvil_restarts: sources.chain.anvil.replacements,
    urls,
    contracts,
    token: { symbol, decimals },
    labels: sources.labels.all(),
    programs,
    unsettled: counts,
    unknown: unknown.map(({ message }) => `${message}.`),
    pending_transactions: Number(pool.pending),
    faults: faults.list(),
    refusals: refusals.newest().length,
    fault_choices: {
      intents: faultIntentNames,
      matrix: Object.fromEntries(faultLayers.map((layer) => [layer, placementsOf(layer)])),
      operations: writeOperations,
    },
  };
}

async function countUnsettled({ services, faults }: Sources): Promise<Overview["unsettled"]> {
  const holding = faults.list().filter(({ action, hits }) => action === "hold" && hits > 0);
  const counts = new Map<string, Overview["unsettled"][number]>();
  for (const status of unsettled) {
    const found = await services.store.list("operations", { status }, { limit: mostCounted });
    for (const { value } of found) {
      const { operation_id, program, kind } = value;
      const subject: { [field: string]: string } = {
        operation_id,
        program,
        kind,
        subject_id: value.subject.id,
      };
      const held = holding.some(({ match }) =>
        Object.entries(match).every(([field, wanted]) => subject[field] === wanted),
      );
      const key = `${kind} ${status} ${held}`;
      const { count } = counts.get(key) ?? { count: 0 };
      counts.set(key, { kind, status, held, count: count + 1 });
    }
  }
  return [...counts.values()];
}
