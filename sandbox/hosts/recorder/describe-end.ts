import type { Fingerprint } from "../../state/fingerprint.ts";
import { blockName, type Scenario } from "./scenario.ts";

/** Returns the final state of a sandbox, as a scenario ends with it. */
export function describeEnd({ digest, epoch, block, journal, store }: Fingerprint): Scenario["end"] {
  return { epoch, block: blockName(block), state_root: block.state_root, journal, store, digest };
}
