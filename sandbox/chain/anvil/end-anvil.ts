import { rm } from "node:fs/promises";
import { awaitAutomine } from "../../../relayer/node/mining.ts";
import { connect } from "../../../relayer/node/node.ts";
import { endsWithin } from "../../lib/deadline.ts";
import { signalProcess } from "../../lib/processes.ts";
import { createChainClient } from "../client/chain-client.ts";
import { nodeSocket } from "../client/node-socket.ts";
import { AnvilError } from "./anvil-error.ts";
import type { AnvilExit } from "./anvil-output.ts";
import { adoptDump, dumpFileOf, recordFileOf } from "./state-file.ts";

const STOP_DEADLINE_MS = 30_000;
/** For one that nobody has used yet. */
const DISCARD_DEADLINE_MS = 5_000;
const MINE_DEADLINE_MS = 2_000;

/** Ends an Anvil whose chain nobody has used yet: what an earlier run saved stays as it is. */
export async function discardAnvil(
  guardNamed: Promise<RegExpExecArray>,
  exited: Promise<AnvilExit>,
  stateFile: string | undefined,
): Promise<void> {
  // Named within milliseconds; without it there is no process.
  if (!(await endsWithin(guardNamed, DISCARD_DEADLINE_MS))) return;
  const [, guard = 0] = (await guardNamed).map(Number);
  signalProcess(guard, "SIGTERM");
  if (!(await endsWithin(exited, DISCARD_DEADLINE_MS))) signalProcess(-guard, "SIGKILL");
  await exited;
  if (stateFile === undefined) return;
  for (const file of [dumpFileOf(stateFile), recordFileOf(stateFile)]) await rm(file, { force: true });
}

/**
 * Ends an Anvil and takes over the chain that it saves, if that is kept.
 *
 * @throws AnvilError `stop_failed` after 30 s, `state_lost` when the chain could not be written.
 */
export async function stopAnvil(anvil: {
  url: string;
  pid: number;
  guardPid: number;
  exited: Promise<AnvilExit>;
  stateFile: string | undefined;
}): Promise<void> {
  const { url, pid, guardPid, exited, stateFile } = anvil;
  runAnvil(guardPid);
  // Anvil forgets what it has not mined yet.
  if (stateFile !== undefined) await endsWithin(mineAll(url), MINE_DEADLINE_MS);
  signalProcess(guardPid, "SIGTERM");
  if (!(await endsWithin(exited, STOP_DEADLINE_MS))) {
    signalProcess(-guardPid, "SIGKILL");
    throw new AnvilError("stop_failed", `Anvil (process ${pid}) did not end within 30 s and was killed.`);
  }
  if (stateFile === undefined || (await adoptDump(stateFile))) return;
  const { code, panic: reason } = await exited;
  const why = reason === undefined ? "" : ` (${reason})`;
  throw new AnvilError(
    "state_lost",
    `Anvil (process ${pid}) ended with code ${code}${why} and did not save the chain in ${stateFile}. Start with --fresh to begin anew, or load a snapshot file.`,
  );
}

/** Lets an Anvil run on if something has stopped it (SIGSTOP). */
export function runAnvil(guardPid: number): void {
  signalProcess(-guardPid, "SIGCONT");
}

/** Waits until a node that mines at once has made a block of all that it was sent. */
async function mineAll(url: string): Promise<void> {
  const socket = nodeSocket(url);
  try {
    await awaitAutomine(connect(createChainClient(url, socket.transport).request));
  } finally {
    socket.close();
  }
}
