import { spawnSync } from "node:child_process";
import { chmod, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { findChromium } from "../../scripts/find-chromium.ts";
import { temporaryFolder } from "../temporary-folder.ts";

const script = fileURLToPath(new URL("../../scripts/set-up-tests.ts", import.meta.url));

test("Chromium is the one that CHROMIUM_PATH names, else the first on the PATH", async () => {
  const [first, second] = [await temporaryFolder(), await temporaryFolder()];
  for (const path of [join(first, "google-chrome"), join(second, "chromium")]) {
    await writeFile(path, "");
    await chmod(path, 0o755);
  }
  const PATH = [first, second].join(delimiter);
  expect(findChromium({ PATH })).toBe(join(second, "chromium"));
  expect(findChromium({ PATH: first })).toBe(join(first, "google-chrome"));
  expect(findChromium({ PATH, CHROMIUM_PATH: join(first, "google-chrome") })).toBe(
    join(first, "google-chrome"),
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
