// Installs what `npm run test:all` needs besides the npm packages: Chromium, PostgreSQL's server, Python with cryptography and pytest, Go, jq and
// curl. Programs that are installed are used; on Debian and Ubuntu, apt-get installs the rest. run-tests.ts names the programs that are still missing,
// together with the tests that are skipped for it.
import { spawnSync } from "node:child_process";
import { missingPrograms } from "./test-programs.ts";

/** Debian has Chromium without its window in a package of its own, which takes less time to run; Ubuntu has not. */
function smallestPackage(name: string): string {
  const shell = "chromium-headless-shell";
  const offered = () =>
    spawnSync("apt-cache", ["search", "--names-only", `^${shell}$`], { encoding: "utf8" });
  return name === "chromium" && offered().stdout?.startsWith(shell) ? shell : name;
}

/** Returns whether a command runs and succeeds; its output is shown only when it does not. */
function runs([program = "", ...args]: string[]): boolean {
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: "utf8", timeout: 600_000 });
  if (status !== 0 && stderr) process.stderr.write(`${stdout}${stderr}`);
  return status === 0;
}

try {
  const missing = missingPrograms().map(({ name }) => name);
  const asRoot = process.getuid?.() === 0 ? [] : ["sudo", "-n"];
  if (missing.length > 0 && process.platform === "linux" && runs([...asRoot, "apt-get", "--version"])) {
    process.stderr.write(`[set-up] installing ${missing.join(", ")} for the tests (apt-get)\n`);
    const apt = [...asRoot, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-qq"];
    if (runs([...apt, "update"]))
      runs([...apt, "install", "--yes", "--no-install-recommends", ...missing.map(smallestPackage)]);
  }
} catch (error) {
  process.stderr.write(`set-up: ${error instanceof Error ? error.message : error}\n`);
  process.exitCode = 1;
}
