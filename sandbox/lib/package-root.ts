import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * The folder that artifacts, portal and the prepared genesis are in: the checkout, or `dist` of the installed package, which is
 * laid out alike.
 */
export function packageRoot(): string {
  return fileURLToPath(new URL("../..", import.meta.url));
}

/** Returns whether this is a checkout, in which all missing files can be made. */
export function inCheckout(): boolean {
  return existsSync(join(packageRoot(), "scripts", "setup.mjs"));
}

/** Returns the remedy for a file of the project that is missing or damaged, as the end of a sentence. */
export function howToRepair(): string {
  return inCheckout() ? "run node scripts/setup.mjs" : "install routing-sandbox again";
}

/** Returns a command of this program as it is run here, as in `npx routing-sandbox demo`. */
export function howToRun(command: string, ...flags: string[]): string {
  // Yarn's Plug'n'Play has no node_modules, which npx looks in.
  const runner = process.versions["pnp"] === undefined ? "npx" : "yarn";
  if (!inCheckout()) return [runner, nameForNpx() ?? "routing-sandbox", command, ...flags].join(" ");
  if (command !== "start" && command !== "demo")
    return ["npm run -s sandbox --", command, ...flags].join(" ");
  const script = command === "start" ? "npm start" : "npm run demo";
  return flags.length === 0 ? script : [script, "--", ...flags].join(" ");
}

/** Returns the package that npx has fetched for a single command, as it was named: `file:routing-sandbox.tgz`; null for an installed package. */
function nameForNpx(): string | null {
  const project = join(packageRoot(), "../../..", "package.json");
  if (!existsSync(project)) return null;
  const { _npx }: { _npx?: { packages: string[] } } = JSON.parse(readFileSync(project, "utf8"));
  return _npx?.packages[0] ?? null;
}
