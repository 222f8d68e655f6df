import type { Hex } from "viem";
import { decodeRevert } from "../../../relayer/node/decode-revert.ts";
import { escapeControls } from "../../../server/lib/escape-controls.ts";
import { sayWrong } from "../../../server/reverts/cause.ts";
import { explainRevert } from "../../../server/reverts/explain-revert.ts";
import type { Services } from "../../../server/services.ts";
import type { Candidate } from "../candidates/candidate.ts";
import type { Explanation } from "../explanation.ts";

/**
 * Decodes revert data, and says in words what it means for the step that the call was meant for.
 *
 * @returns null when there is no data.
 * @example (await readRevert(output, candidate, services))?.meaning // "The purchase is fully paid."
 */
export async function readRevert(
  output: Hex,
  candidate: Pick<Candidate, "use" | "about"> | null,
  services: Services,
): Promise<Explanation["revert"]> {
  const revert = decodeRevert(output);
  if (revert === null) return null;
  if (candidate === null) return { ...revert, meaning: null };
  const { step } = candidate.use;
  const purchase = (await services.store.get("purchases", candidate.about))?.value ?? null;
  const { wrong, instead } = await explainRevert(revert, { step, purchase }, services);
  const meaning = instead === undefined ? sayWrong({ wrong }) : `${sayWrong({ wrong })} ${instead}`;
  // A reason is text of the contract.
  return { ...revert, meaning: escapeControls(meaning) };
}
