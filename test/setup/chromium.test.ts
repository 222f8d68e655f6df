import { spawnSync } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { findChromium } from "../../scripts/test-programs.ts";
import { temporaryFolder } from "../temporary-folder.ts";

const script = fileURLToPath(new URL("../../scripts/set-up-tests.ts", import.meta.url));

test("Chromium is the one that CHROMIUM_PATH names, else the first on the PATH, preferably without a window", async () => {
  const [first, second, third] = [await temporaryFolder(), await temporaryFolder(), await temporaryFolder()];
  for (const path of [
    join(first, "google-chrome"),
    join(second, "chromium"),
    join(third, "chromium-headless-shell"),
  ])
    await writeFile(path, "", { mode: 0o755 });
  const PATH = [first, second].join(delimiter);
  expect(findChromium({ PATH })).toBe(join(second, "chromium"));
  expect(findChromium({ PATH: [PATH, third].join(delimiter) })).toBe(join(third, "chromium-headless-shell"));
  expect(findChromium({ PATH: first })).toBe(join(first, "google-chrome"));
  expect(findChromium({ PATH, CHROMIUM_PATH: join(first, "google-chrome") })).toBe(
    join(first, "google-chrome"),
  );
});

/** Replace the commands that install packages, and say what they were asked for. */
const commands = {
  env: 'shift; exec "$@"',
  sudo: 'shift; exec "$@"',
  "apt-cache": 'case "$*" in *"$OFFERED"*) echo "$OFFERED - web browser";; esac',
  "apt-get": `echo "$@" >>"$BIN/log"
for name; do case $name in chromium*) echo >"$BIN/$name"; /bin/chmod 755 "$BIN/$name";; esac; done`,
};

test.runIf(process.platform === "linux").for([
  ["without a window where there is such a package", "chromium-headless-shell", "chromium-headless-shell"],
  ["with one where there is none", "nothing-of-the-kind", "chromium"],
] as const)("the tests' set-up installs Chromium %s", async ([, OFFERED, installed]) => {
  const BIN = await temporaryFolder();
  for (const [name, script] of Object.entries(commands))
    await writeFile(join(BIN, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  const env = { PATH: BIN, BIN, OFFERED };
  const { status, stderr } = spawnSync(process.execPath, [script], { env, encoding: "utf8" });
  expect([status, stderr]).toEqual([0, expect.stringContaining("installing chromium")]);
  const asked = (await readFile(join(BIN, "log"), "utf8")).split("\n");
  expect(asked).toContainEqual(
    expect.stringMatching(
      new RegExp(
        `^-qq install --yes --no-install-recommends ${installed}( postgresql)? python3-cryptography python3-pytest golang-go jq curl$`,
      ),
    ),
  );
});

test("a CHROMIUM_PATH that names no program ends the tests' set-up with one sentence that says what to do", () => {
  const env = { ...process.env, CHROMIUM_PATH: "/nowhere/chromium" };
  const { status, stderr } = spawnSync(process.execPath, [script], { env, encoding: "utf8" });
  expect([status, stderr]).toEqual([
    1,
    "set-up: CHROMIUM_PATH is /nowhere/chromium, which is no program; let it name Chromium or Chrome, or unset it.\n",
  ]);
});
