import { clusterOperations } from "../cluster/operations.ts";
import { explorerOperations } from "../explorer/operations.ts";
import { faultOperations } from "../faults/operations.ts";
import { givenOperations } from "../given/operations.ts";
import type { ControlOperation } from "../lib/control/operation.ts";
import { receiverOperations } from "../receiver/operations.ts";
import { relayerOperations } from "../relayer/operations.ts";
import { scenarioOperations } from "../scenarios/operations.ts";
import { snapshotOperations } from "../snapshots/operations.ts";
import { clockOperations } from "../time/operations.ts";
import { traceOperations } from "../trace/operations.ts";
import type { ServedSandbox } from "./controlled-sandbox.ts";
import { healthOperations, metricsOperations } from "./health.ts";
import { sandboxOperations } from "./sandbox-operations.ts";
import { clientOperations } from "./send-request.ts";

/** Every operation of the control API: the router, the description and docs/control.md come from this table. */
export const controlOperations: readonly ControlOperation<ServedSandbox>[] = [
  ...sandboxOperations,
  ...healthOperations,
  ...metricsOperations,
  ...clientOperations,
  ...givenOperations,
  ...clockOperations,
  ...faultOperations,
  ...snapshotOperations,
  ...scenarioOperations,
  ...receiverOperations,
  ...relayerOperations,
  ...explorerOperations,
  ...traceOperations,
  ...clusterOperations,
];
