import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

/** Returns the oldest version of Node that the package runs on, as in `22.14.0`. */
export function oldestNode(): string {
  const manifest = createRequire(import.meta.url).resolve("routing-sandbox/package.json");
  return JSON.parse(readFileSync(manifest, "utf8")).engines.node.replace(">=", "");
}

/**
 * Returns why the package cannot run on a version of Node; null if it can.
 *
 * @example
 * explainOldNode("20.20.2"); // "routing-sandbox needs Node 22.14.0 or newer, and this is Node 20.20.2. Install a newer Node."
 */
export function explainOldNode(version: string = process.versions.node): string | null {
  const needed = oldestNode();
  const [major = 0, minor = 0] = needed.split(".").map(Number);
  const [ownMajor = 0, ownMinor = 0] = version.split(".").map(Number);
  if (ownMajor > major || (ownMajor === major && ownMinor >= minor)) return null;
  return `routing-sandbox needs Node ${needed} or newer, and this is Node ${version}. Install a newer Node.`;
}
