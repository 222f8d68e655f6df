// Installs what tests need besides the packages: Chromium for the pages, PostgreSQL's server for the store that processes share, Python with
// cryptography and pytest, Go, jq and curl for the examples in those languages. Programs that are installed are used; on Debian and Ubuntu, apt-get installs the rest.
// `npm start` does not run this.
import { spawnSync } from "node:child_process";
import { findChromium } from "./find-chromium.ts";
import { findPostgres } from "./find-postgres.ts";

const byHand = "install Chromium or Chrome, or let CHROMIUM_PATH name it, and run the command again";

function setUpTests(): void {
  const missing = [
    ...(findChromium(process.env) === undefined ? ["chromium"] : []),
    ...(findPostgres(process.env) === undefined ? ["postgresql"] : []),
    ...forLanguages(),
  ];
  if (missing.length === 0) return;
  const asRoot = process.getuid?.() === 0 ? [] : ["sudo", "-n"];
  const canInstall = process.platform === "linux" && runs([...asRoot, "apt-get", "--version"]);
  if (canInstall) {
    process.stderr.write(`[set-up] installing ${missing.join(" and ")} for the tests (apt-get)\n`);
    const apt = [...asRoot, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-qq"];
    if (runs([...apt, "update"]))
      runs([...apt, "install", "--yes", "--no-install-recommends", ...missing.map(smallestPackage)]);
  }
  if (findPostgres(process.env) === undefined)
    process.stderr.write(
      "[set-up] without PostgreSQL's server (apt-get install postgresql) its tests are skipped\n",
    );
  const without = forLanguages().join(" ");
  if (without !== "")
    process.stderr.write(
      `[set-up] without ${without} (apt-get install) the examples that need them are skipped\n`,
    );
  if (findChromium(process.env) === undefined)
    throw new Error(`The page tests need Chromium, which could not be installed here; ${byHand}.`);
}

/** Returns the packages that the examples in other languages need and that are not installed. */
function forLanguages(): string[] {
  return [
    ...(succeeds("python3", "-c", "import cryptography") ? [] : ["python3-cryptography"]),
    ...(succeeds("python3", "-c", "import pytest") ? [] : ["python3-pytest"]),
    ...(succeeds("go", "version") ? [] : ["golang-go"]),
    ...(succeeds("jq", "--version") ? [] : ["jq"]),
    ...(succeeds("curl", "--version") ? [] : ["curl"]),
  ];
}

/** Debian has Chromium without its window in a package of its own, which takes less time to run; Ubuntu has not. */
function smallestPackage(name: string): string {
  const shell = "chromium-headless-shell";
  const offered = () =>
    spawnSync("apt-cache", ["search", "--names-only", `^${shell}$`], { encoding: "utf8" });
  return name === "chromium" && offered().stdout?.startsWith(shell) ? shell : name;
}

/** Returns whether a command exists and succeeds. */
function succeeds(program: string, ...args: string[]): boolean {
  return spawnSync(program, args, { stdio: "ignore" }).status === 0;
}

/** Returns whether a command runs and succeeds; its output is shown only when it does not. */
function runs([program = "", ...args]: string[]): boolean {
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: "utf8", timeout: 600_000 });
  if (status !== 0 && stderr) process.stderr.write(`${stdout}${stderr}`);
  return status === 0;
}

try {
  setUpTests();
} catch (error) {
  process.stderr.write(`set-up: ${error instanceof Error ? error.message : error}\n`);
  process.exitCode = 1;
}
