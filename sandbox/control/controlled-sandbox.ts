import type { Relayer } from "../../relayer/relayer.ts";
import type { Gate } from "../../server/http/gate.ts";
import type { Services } from "../../server/http/services.ts";
import type { KeyUse } from "../../server/keys/key-ring.ts";
import type { Metrics } from "../activity/metrics.ts";
import type { ChainNode } from "../chain/start-chain.ts";
import type { SendRequest } from "../client/api-client.ts";
import type { Explain } from "../explain/explain.ts";
import type { Explorer } from "../explorer/explorer.ts";
import type { SandboxFaults } from "../faults/faults.ts";
import type { Given } from "../given/given.ts";
import type { UndoableCalls } from "../lib/control/undoable-calls.ts";
import type { SandboxDescription } from "../options/description.ts";
import type { SandboxReceiver } from "../receiver/receiver.ts";
import type { Recorder } from "../scenarios/recorder.ts";
import type { Fingerprint } from "../snapshots/fingerprint.ts";
import type { KeptSnapshots } from "../snapshots/kept-snapshots.ts";
import type { HeldSnapshot } from "../snapshots/snapshot.ts";
import type { MakeTrace } from "../trace/make-trace.ts";

/** The parts of a sandbox that the control API reads and changes. */
export interface ControlledSandbox {
  description: SandboxDescription;
  chain: ChainNode;
  relayer: Relayer;
  faults: SandboxFaults;
  receiver: SandboxReceiver;
  rotateKeys: (...uses: KeyUse[]) => Promise<void>;
  explain: Explain;
  explorer: Explorer;
  makeTrace: MakeTrace;
  gate: Gate;
  recorder: Recorder;
  given: Pick<Given, "until">;
  /** Its calls that a restore ends. */
  calls: UndoableCalls;
  /** Returns what sends requests to the routing API with the credential of the sandbox's client, until the signal aborts. */
  sendAsClient: (ended: AbortSignal) => SendRequest;
  /** Captures and encodes the content of a snapshot file. */
  encodeSnapshot: () => Promise<Uint8Array>;
  snapshot: () => Promise<HeldSnapshot>;
  fingerprint: () => Promise<Fingerprint>;
  metrics: Metrics;
  services: Pick<Services, "refused" | "store">;
}

/** A sandbox with the snapshots that its control API keeps. */
export interface ServedSandbox extends ControlledSandbox {
  kept: KeptSnapshots;
}
