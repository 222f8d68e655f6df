import { chmod, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, onTestFinished, test, vi } from "vitest";
import { temporaryFolder } from "../../temporary-folder.ts";
import { runCli } from "../run-cli.ts";

/** Runs `open` on a trace with a shell script as the browser. */
async function openWith(script: string | null): Promise<{ file: string; folder: string; stdout: string }> {
  const folder = await temporaryFolder();
  const file = join(folder, "checkout.trace.html");
  const browser = join(folder, "browser");
  await writeFile(file, "<!doctype html><title>A trace</title>");
  if (script !== null) {
    await writeFile(browser, `#!/bin/sh\n${script}\n`);
    await chmod(browser, 0o755);
  }
  vi.stubEnv("BROWSER", browser);
  onTestFinished(() => void vi.unstubAllEnvs());
  return { file, folder, stdout: await runCli("open", file) };
}

test("open starts the browser with the URL of the trace, and prints the URL", async () => {
  const { file, folder, stdout } = await openWith('echo "$1" > "$0.opened"');
  const url = `${pathToFileURL(file).href}\n`;
  expect(stdout).toBe(url);
  expect(await readFile(join(folder, "browser.opened"), "utf8")).toBe(url);
});

test.for([
  ["there is no browser", null],
  ["the launcher finds no desktop, as xdg-open reports with its exit code", "exit 3"],
] as const)("open names the file, and says what to do, if %s", async ([, script]) => {
  const { file, stdout } = await openWith(script);
  expect(stdout).toBe(
    `${pathToFileURL(file).href}\nNo browser could be started for ${file}. Open this file in a browser, on another machine if this one has no desktop.\n`,
  );
});
