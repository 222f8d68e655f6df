import type { Fingerprint } from "../../state/fingerprint.ts";
import { blockName, type Scenario } from "./scenario.ts";

/** What a sandbox has come to, as a scenario ends with it. */
export function describeEnd({ digest, epoch, block, journal, store }: Fingerprint): Scenario["end"] {
  return { epoch, block: blockName(block), state_root: block.state_root, journal, store, digest };
}
