// What the page tests need beyond the packages: a Chromium. One that is installed is used; on Debian and Ubuntu a missing one is
// installed with apt-get. `npm start` never comes here.
import { spawnSync } from "node:child_process";
import { findChromium } from "./find-chromium.ts";

const byHand = "install Chromium or Chrome, or let CHROMIUM_PATH name it, and run the command again";

function setUpChromium(): void {
  if (findChromium(process.env) !== undefined) return;
  const asRoot = process.getuid?.() === 0 ? [] : ["sudo", "-n"];
  if (process.platform !== "linux" || !runs([...asRoot, "apt-get", "--version"]))
    throw new Error(`The page tests need Chromium and cannot install it here; ${byHand}.`);
  process.stderr.write("[set-up] installing Chromium for the page tests (apt-get)\n");
  const apt = [...asRoot, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-qq"];
  const installed =
    runs([...apt, "update"]) && runs([...apt, "install", "--yes", "--no-install-recommends", "chromium"]);
  if (!installed || findChromium(process.env) === undefined)
    throw new Error(`apt-get could not install Chromium; ${byHand}.`);
}

/** Whether a command runs and succeeds; what it says is shown only when it does not. */
function runs([program = "", ...args]: string[]): boolean {
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: "utf8", timeout: 600_000 });
  if (status !== 0 && stderr) process.stderr.write(`${stdout}${stderr}`);
  return status === 0;
}

try {
  setUpChromium();
} catch (error) {
  process.stderr.write(`set-up: ${error instanceof Error ? error.message : error}\n`);
  process.exitCode = 1;
}
