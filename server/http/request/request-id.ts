import { deriveId } from "../../../protocol/values/id.ts";
import type { Services } from "../services.ts";

/** The number of an identifier's 20 characters that count the requests: five bits each. */
const counting = 8;

/** RFC 4648's base32 in lower case, as identifiers are written. */
const digits = "abcdefghijklmnopqrstuvwxyz234567";

/**
 * Names requests. The names repeat with the seed, so that two equal runs have equal answers: they begin with what is derived from
 * seed and epoch, and end with the request's number, because a hash for each request takes a tenth of a short answer's time.
 */
export function requestNames({ settings, deployment, requests }: Services): () => string {
  const first = deriveId("req", [settings.seed, deployment.epoch]).slice(0, -counting);
  return () => first + inBase32(requests.next());
}

function inBase32(number: number): string {
  let text = "";
  for (let rest = number; text.length < counting; rest = Math.floor(rest / 32))
    text = digits.charAt(rest % 32) + text;
  return text;
}
