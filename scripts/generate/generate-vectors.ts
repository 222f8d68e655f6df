/** Writes docs/vectors.json from the code that signs, hashes and encodes; with --check it only says whether the file is current. */
import { computeVectors } from "./vectors.ts";
import { writeGenerated } from "./write-generated.ts";

await writeGenerated(
  { "docs/vectors.json": `${JSON.stringify(await computeVectors(), null, 1)}\n` },
  "the code of protocol/",
);
