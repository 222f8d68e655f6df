import { createHash } from "node:crypto";
import { canonicalJson } from "../../../../protocol/values/canonical-json.ts";

/** A snapshot file with other fields or another body, under a checksum that is right. */
export function sealed(whole: Buffer, change: object, changed?: Buffer): Buffer {
  const end = whole.indexOf("\n");
  const { sha256: _, ...fields } = JSON.parse(whole.subarray(0, end).toString());
  const kept = { ...fields, ...change };
  const body = changed ?? whole.subarray(end + 1);
  const sha256 = createHash("sha256")
    .update(`${canonicalJson(kept)}\n`)
    .update(body)
    .digest("hex");
  return Buffer.concat([Buffer.from(`${JSON.stringify({ ...kept, sha256 })}\n`), body]);
}
