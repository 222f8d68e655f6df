import { limitTexts } from "../http/limits.ts";
import { maximumDepth } from "../http/request/parse-json.ts";

/** The limits of the service as prose names them, by the names that pages use. */
export function limitValues() {
  return { ...limitTexts, body_levels: `${maximumDepth} levels` };
}
