import { deriveId } from "../../protocol/id.ts";
import type { Services } from "../services.ts";

/**
 * Names the next request. The names repeat with the seed, so that two equal runs have equal answers.
 *
 * @example response.set("X-Request-Id", nextRequestId(services))
 */
export function nextRequestId({ settings, deployment, requests }: Services): string {
  return deriveId("req", [settings.seed, deployment.epoch, requests.next()]);
}
