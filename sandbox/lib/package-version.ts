import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { z } from "zod";

const manifest = z.object({ version: z.string() });

/** Returns the version of this package, as in `0.2.0`. */
export function packageVersion(): string {
  const file = createRequire(import.meta.url).resolve("routing-sandbox/package.json");
  return manifest.parse(JSON.parse(readFileSync(file, "utf8"))).version;
}
