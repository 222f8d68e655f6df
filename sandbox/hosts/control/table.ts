import type { ControlOperation } from "./operation.ts";
import { clockOperations } from "./operations/clock.ts";
import { clusterOperations } from "./operations/cluster.ts";
import { explorerOperations } from "./operations/explorer.ts";
import { faultOperations } from "./operations/faults.ts";
import { givenOperations } from "./operations/given.ts";
import { healthOperations } from "./operations/health.ts";
import { receiverOperations } from "./operations/receiver.ts";
import { relayerOperations } from "./operations/relayer.ts";
import { sandboxOperations } from "./operations/sandbox.ts";
import { scenarioOperations } from "./operations/scenario.ts";
import { snapshotOperations } from "./operations/snapshots.ts";

/** Every operation of the control API: the router, the description and docs/control.md come from this table. */
export const controlOperations: readonly ControlOperation[] = [
  ...sandboxOperations,
  ...healthOperations,
  ...givenOperations,
  ...clockOperations,
  ...faultOperations,
  ...snapshotOperations,
  ...scenarioOperations,
  ...receiverOperations,
  ...relayerOperations,
  ...explorerOperations,
  ...clusterOperations,
];
