import type { FaultState, Relayer } from "../../../relayer/relayer.ts";
import { ownState, type Part } from "../../lib/part.ts";

/** The faults of the relayer, and how often each will still act. */
export function relayerFaultsPart(relayer: Relayer): Part<FaultState> {
  return {
    name: "relayer_faults",
    schema: ownState<FaultState>(),
    capture: () => relayer.snapshotFaults(),
    restore: async (state) => await relayer.restoreFaults(state),
  };
}
