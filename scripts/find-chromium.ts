import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

/**
 * The program names of Chromium and Chrome. First the build without a window, which the pages need a third less
 * processor time in; Ubuntu's chromium-browser is last, because it may only say that there is a snap.
 */
const names = [
  "chromium-headless-shell",
  "chromium",
  "google-chrome",
  "google-chrome-stable",
  "chromium-browser",
];
const macPaths = [
  "/Applications/Chromium.app/Contents/MacOS/Chromium",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
];

/**
 * Finds Chromium or Chrome: `CHROMIUM_PATH` if it is set, else on the PATH, else where macOS keeps programs.
 *
 * @throws Error when `CHROMIUM_PATH` names no program.
 * @example findChromium(process.env) // "/usr/bin/chromium"
 */
export function findChromium(environment: {
  readonly [name: string]: string | undefined;
}): string | undefined {
  const { CHROMIUM_PATH: named, PATH: path = "" } = environment;
  if (named !== undefined && named !== "") {
    if (isProgram(named)) return named;
    throw new Error(
      `CHROMIUM_PATH is ${named}, which is no program; let it name Chromium or Chrome, or unset it.`,
    );
  }
  const folders = path.split(delimiter).filter((folder) => folder !== "");
  const onPath = names.flatMap((name) => folders.map((folder) => join(folder, name)));
  return [...onPath, ...macPaths].find(isProgram);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
