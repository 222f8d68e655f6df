import type { Fingerprint } from "../snapshots/fingerprint.ts";
import { blockName, type ScenarioEnd } from "./scenario.ts";

/** Returns the final state of a sandbox, as a scenario ends with it. */
export function describeEnd({ digest, epoch, block, journal, store }: Fingerprint): ScenarioEnd {
  return { epoch, block: blockName(block), state_root: block.state_root, journal, store, digest };
}
