import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { brotliCompressSync, brotliDecompressSync, constants } from "node:zlib";
import type { Hex } from "viem";
import { z } from "zod";
import { messageOf } from "../protocol/coded-error.ts";
import { readContractArtifact } from "../sandbox/chain/contracts.ts";
import { packageRoot } from "../sandbox/lib/package-root.ts";
import { callSequences } from "./calls/all.ts";
import type { RecordedCall } from "./calls/call-recorder.ts";
import { type CallSequence, recordSequence } from "./calls/call-sequence.ts";
import { ContractFixture } from "./fixture/contract-fixture.ts";
import { installRegistrar } from "./install-registrar.ts";
import { type GasUse, runLifecycle } from "./lifecycle.ts";
import { recordStates, type StateOutcome, type StatesRecording } from "./rules/record-states.ts";
import { table } from "./rules/table/all.ts";
import type { View } from "./rules/views.ts";
import { recordWalks } from "./walks/compare-walks.ts";

/** The effects of the lifecycle and the call sequences on the sandbox's own registrar contract, to compare with. */
export interface ReferenceEffects {
  /** The gas of its functions. */
  gas: GasUse;
  /** The effect of each call. */
  calls: ReadonlyMap<CallSequence, readonly RecordedCall[]>;
  /** The outcome of each call of the table in every state. Without it, these are not compared. */
  states?: StatesRecording;
  /** A short hash of the outcomes of each random walk. Without it, none is compared. */
  walks?: readonly string[];
}

/** The package has them in this file, because to record them takes as long as half a check. A checkout has none: there, the contract changes. */
export const referenceFile = "reference.json.br";

type StoredOutcome = Omit<StateOutcome, "views"> & { views: (number | null)[] };

const isObject = (value: unknown) => typeof value === "object" && value !== null;
/** Only the build writes the file, from what it has recorded. */
const storedSchema = z.object({
  gas: z.record(z.string(), z.number()),
  calls: z.array(z.array(z.custom<RecordedCall>(isObject))),
  views: z.array(z.custom<View>(isObject)),
  /** The different results of views. */
  results: z.array(z.custom<Hex>((value) => typeof value === "string")),
  /** The different outcomes, most of which are those of many calls and states, with the places of their views' results. */
  outcomes: z.array(z.custom<StoredOutcome>(isObject)),
  /** Of each state, the places of its calls in the table, each with that of its outcome. */
  states: z.array(z.array(z.tuple([z.int(), z.int()]))),
  walks: z.array(z.string()),
});

/**
 * Returns the effects of the lifecycle, all call sequences and the calls in every state on the sandbox's own registrar contract.
 *
 * @example const reference = await readReference();
 */
export async function readReference(): Promise<ReferenceEffects> {
  const file = join(packageRoot(), referenceFile);
  if (!existsSync(file)) return await recordReference();
  try {
    return decodeReference(await readFile(file));
  } catch (cause) {
    throw new Error(`${file} is damaged: ${messageOf(cause)}. Install routing-sandbox again.`, { cause });
  }
}

/** Opens a sandbox with the sandbox's own registrar contract, in the way in which those with other contracts are opened. */
export async function withReference<T>(step: (fixture: ContractFixture) => Promise<T>): Promise<T> {
  const own = { ...(await readContractArtifact("PurchaseRegistrar")), contractName: "PurchaseRegistrar" };
  const fixture = await ContractFixture.open(async (chain) => await installRegistrar(chain, own));
  try {
    return await step(fixture);
  } catch (error) {
    await fixture.requireNode(error);
    throw error;
  } finally {
    await fixture.close();
  }
}

/** Runs the lifecycle, all call sequences, the calls in every state and the random walks on the sandbox's own registrar contract. */
export async function recordReference(): Promise<Required<ReferenceEffects>> {
  const recorded = new Map<CallSequence, readonly RecordedCall[]>();
  const waiting = [...callSequences];
  const recordWaiting = async (fixture: ContractFixture) => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift())
      recorded.set(next, await recordOwn(next, fixture));
  };
  // Each sandbox waits for its Anvil half of the time.
  const [{ gas, walks }, states] = await Promise.all([
    withReference(async (fixture) => {
      const used = await runLifecycle(fixture);
      const digests = await recordWalks(fixture);
      await recordWaiting(fixture);
      return { gas: used, walks: digests };
    }),
    withReference(async (fixture) => {
      const recording = await recordStates(fixture, table);
      await recordWaiting(fixture);
      return recording;
    }),
  ]);
  return { gas, calls: new Map(callSequences.map((one) => [one, recorded.get(one) ?? []])), states, walks };
}

async function recordOwn(sequence: CallSequence, fixture: ContractFixture): Promise<readonly RecordedCall[]> {
  const { recorded, error } = await recordSequence(sequence, fixture);
  if (error !== null) throw new Error(`The calls of ${sequence.name} cannot be sent: ${error.failure}`);
  // Hashes are not compared, and cannot be compressed.
  return recorded.map((call) => ({ ...call, hash: null }));
}

/** Returns the place of a key in a map, which gets it if it is new. */
function placeIn<K>(places: Map<K, number>, key: K): number {
  const place = places.get(key) ?? places.size;
  places.set(key, place);
  return place;
}

/** Returns the content of the file of a reference. */
export function encodeReference({
  gas,
  calls,
  states,
  walks,
}: Awaited<ReturnType<typeof recordReference>>): Buffer {
  const [results, outcomes] = [new Map<Hex, number>(), new Map<string, number>()];
  const storeOutcome = (outcome: StateOutcome) => {
    const views = outcome.views.map((result) => (result === null ? null : placeIn(results, result)));
    return placeIn(outcomes, JSON.stringify({ ...outcome, views } satisfies StoredOutcome));
  };
  const placed = states.states.map((state) =>
    table.flatMap((call, place): [number, number][] => {
      const outcome = state.outcomes.get(call);
      return outcome === undefined ? [] : [[place, storeOutcome(outcome)]];
    }),
  );
  const stored: z.infer<typeof storedSchema> = {
    gas,
    calls: callSequences.map((sequence) => [...(calls.get(sequence) ?? [])]),
    views: [...states.views],
    results: [...results.keys()],
    outcomes: [...outcomes.keys()].map((text) => JSON.parse(text)),
    states: placed,
    walks: [...walks],
  };
  // Much of it is there several times, far apart.
  const params = {
    [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
    [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
  };
  return brotliCompressSync(JSON.stringify(stored), { params });
}

/** Returns the reference that is in a file. */
export function decodeReference(content: Buffer): Required<ReferenceEffects> {
  const { gas, calls, views, results, outcomes, states, walks } = storedSchema.parse(
    JSON.parse(brotliDecompressSync(content).toString()),
  );
  const restored = outcomes.map(
    (outcome): StateOutcome => ({
      ...outcome,
      views: outcome.views.map((place) => (place === null ? null : (results[place] ?? null))),
    }),
  );
  return {
    gas,
    walks,
    calls: new Map(callSequences.map((sequence, index) => [sequence, calls[index] ?? []])),
    states: {
      views,
      states: states.map((placed) => ({
        failedStep: null,
        outcomes: new Map(
          placed.flatMap(([place, of]) => {
            const [call, outcome] = [table[place], restored[of]];
            return call === undefined || outcome === undefined ? [] : [[call, outcome] as const];
          }),
        ),
      })),
    },
  };
}
