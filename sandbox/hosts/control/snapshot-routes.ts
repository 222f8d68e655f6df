import { Router } from "express";
import { Problem } from "../../../server/api/errors/problem.ts";
import type { SandboxClock } from "../../chain/clock/clock.ts";
import type { Snapshot } from "../../state/snapshot.ts";

/** A snapshot that the control API took, to go back to while the sandbox runs. */
interface KeptSnapshot {
  /** Counts them from 1. */
  number: number;
  /** Sandbox time in Unix seconds. */
  now: number;
  snapshot: Snapshot;
}

/** The number of snapshots that are kept; the oldest one is forgotten for a new one. */
export const keptSnapshots = 20;

/**
 * The part of the control API that takes snapshots and goes back to them. To be served before what is held back: a snapshot waits for
 * all of that itself.
 */
export function snapshotRoutes({
  snapshot,
  chain: { clock },
}: {
  snapshot: () => Promise<Snapshot>;
  chain: { clock: SandboxClock };
}): Router {
  const router = Router();
  let kept: readonly KeptSnapshot[] = [];
  let taken = 0;
  const list = () => ({ data: kept.map(({ number, now }) => ({ number, now })) });
  router.get("/snapshots", (_request, response) => {
    response.json(list());
  });
  router.post("/snapshots", async (_request, response) => {
    const made = await snapshot();
    taken += 1;
    const entry = { number: taken, now: await clock.now(), snapshot: made };
    kept = [...kept, entry].slice(-keptSnapshots);
    response.status(201).json({ number: entry.number, now: entry.now });
  });
  router.post("/snapshots/:number/restore", async (request, response) => {
    const entry = kept.find(({ number }) => String(number) === request.params.number);
    if (entry === undefined)
      throw new Problem(
        "not_found",
        `There is no snapshot ${request.params.number}; take one with POST /snapshots.`,
      );
    await entry.snapshot.restore();
    // A snapshot taken after it belongs to a state that no longer exists.
    kept = kept.filter(({ number }) => number <= entry.number);
    response.json(list());
  });
  return router;
}
