import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";

/** Has the programs that tests start be made of the sources as they are, also where only some tests are run after a change. */
export function setup(): void {
  const script = fileURLToPath(new URL("../scripts/setup.mjs", import.meta.url));
  execFileSync(process.execPath, [script], { stdio: "inherit" });
}
