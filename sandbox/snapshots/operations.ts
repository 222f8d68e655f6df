import { z } from "zod";
import { controlOf } from "../lib/control/operation.ts";
import type { KeptSnapshots } from "./kept-snapshots.ts";
import { keptSnapshots } from "./kept-snapshots.ts";

const defineControl = controlOf<{ encodeSnapshot: () => Promise<Uint8Array>; kept: KeptSnapshots }>();

const keptSchema = z
  .object({
    number: z.int(),
    now: z.int().meta({ description: "Sandbox time in Unix seconds." }),
  })
  .meta({ id: "KeptSnapshot" });

const listSchema = z.object({ data: z.array(keptSchema) }).meta({ id: "KeptSnapshots" });

const waiting = "If a request in progress does not end in time, the response is `503 snapshot_timeout`.";

const errors = ["snapshot_timeout", "sandbox_shared", "part_failed"] as const;

/** `GET /snapshot` */
const saveSnapshot = defineControl({
  id: "saveSnapshot",
  method: "get",
  path: "/snapshot",
  tag: "Snapshots",
  summary: "Returns the content of a snapshot file.",
  description: waiting,
  page: { target: "snapshots.md#snapshot-files", words: "snapshot files" },
  success: {
    status: 200,
    description: "The content of a snapshot file.",
    schema: z.string().meta({ format: "binary" }),
    type: "application/octet-stream",
  },
  errors: [...errors, "snapshot_refused"],
  recorded: false,
  needsOwnChain: true,
  handle: async ({ sandbox }) => Buffer.from(await sandbox.encodeSnapshot()),
});

/** `GET /snapshots` */
const listSnapshots = defineControl({
  id: "listSnapshots",
  method: "get",
  path: "/snapshots",
  tag: "Snapshots",
  summary: "Lists the snapshots in memory, the oldest first.",
  success: { status: 200, description: "The snapshots in memory.", schema: listSchema },
  recorded: false,
  handle: ({ sandbox }) => ({ data: sandbox.kept.list() }),
});

/** `POST /snapshots` */
const takeSnapshot = defineControl({
  id: "takeSnapshot",
  method: "post",
  path: "/snapshots",
  tag: "Snapshots",
  summary: `Takes a snapshot. The ${keptSnapshots} newest are kept in memory.`,
  page: { target: "snapshots.md", words: "snapshots" },
  success: { status: 201, description: "The snapshot.", schema: keptSchema },
  errors,
  recorded: false,
  needsOwnChain: true,
  handle: async ({ sandbox }) => await sandbox.kept.take(),
});

/** `POST /snapshots/{number}/restore` */
const restoreSnapshot = defineControl({
  id: "restoreSnapshot",
  method: "post",
  path: "/snapshots/{number}/restore",
  tag: "Snapshots",
  summary: "Restores a snapshot, and deletes all later snapshots.",
  params: {
    number: z.string().meta({ description: "The number of the snapshot.", example: 1, type: "integer" }),
  },
  success: { status: 200, description: "The remaining snapshots.", schema: listSchema },
  errors: [...errors, "not_found", "stale_snapshot"],
  recorded: false,
  needsOwnChain: true,
  async handle({ sandbox, params: { number = "" } }) {
    await sandbox.kept.restore(number);
    return { data: sandbox.kept.list() };
  },
});

/** The operations on snapshots. They wait for all requests themselves. */
export const snapshotOperations = [saveSnapshot, listSnapshots, takeSnapshot, restoreSnapshot];
