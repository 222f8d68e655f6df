import { toTimestamp } from "../../../protocol/values/time.ts";
import type { BlockPoint } from "../../../server/chain/chain-reader.ts";
import type { BlockPointView } from "../views.ts";

/** A block that was read at, in the shape that is answered. */
export function viewBlockPoint({ number, hash, timestamp }: BlockPoint): BlockPointView {
  return { number, hash, at: toTimestamp(timestamp) };
}
