import type { RelayerContext } from "../context.ts";
import {
  isOver,
  type RelayOperation,
  type RelayOperationRecord,
  toRelayOperation,
} from "../journal/relay-operation.ts";
import { driveLocked } from "./drive.ts";

/**
 * Returns whether an earlier attempt of an operation has taken effect or may still be mined, after another look at each
 * of them. While one is, no further attempt may begin.
 */
export async function hasLiveAttempt(
  context: RelayerContext,
  current: RelayOperationRecord,
): Promise<boolean> {
  for (const superseded of await context.journal.superseded(current))
    if (!isOver(await driveLocked(context, superseded, "always"))) return true;
  return false;
}

/** Returns whether an earlier attempt of an operation has taken effect or may still be mined, by the journal. */
export async function waitsForEarlier(context: RelayerContext, operationId: string): Promise<boolean> {
  const current = await context.journal.read(operationId);
  const superseded = current === undefined ? [] : await context.journal.superseded(current);
  return !superseded.every(isOver);
}

/** Reads what the API shows of an operation from the journal; undefined when there is none. */
export async function readRelayOperation(
  context: RelayerContext,
  operationId: string,
): Promise<RelayOperation | undefined> {
  const record = await context.journal.read(operationId);
  return record && (await assembleRelayOperation(context, record));
}

/** Returns an operation as the API shows it, with its earlier attempts. */
export async function assembleRelayOperation(
  context: RelayerContext,
  current: RelayOperationRecord,
): Promise<RelayOperation> {
  return toRelayOperation(current, await context.journal.superseded(current));
}
