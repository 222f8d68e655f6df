import { spawnSync } from "node:child_process";
import { accessSync, constants, existsSync, readdirSync } from "node:fs";
import { delimiter, join } from "node:path";

/**
 * The program names of Chromium and Chrome. First the build without a window, which the pages need a third less
 * processor time in; Ubuntu's chromium-browser is last, because it may only say that there is a snap.
 */
const chromiumNames = [
  "chromium-headless-shell",
  "chromium",
  "google-chrome",
  "google-chrome-stable",
  "chromium-browser",
];
const chromiumOnMac = [
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
  const onPath = chromiumNames.flatMap((name) => folders.map((folder) => join(folder, name)));
  return [...onPath, ...chromiumOnMac].find(isProgram);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** The folder in which Debian and Ubuntu keep the programs of each version; only some of them are on the PATH. */
const postgresVersions = "/usr/lib/postgresql";

/**
 * Finds the folder with PostgreSQL's server programs: on the PATH, else Debian's newest version.
 *
 * @example findPostgres(process.env) // "/usr/lib/postgresql/15/bin"
 */
export function findPostgres({
  PATH: path = "",
}: {
  readonly [name: string]: string | undefined;
}): string | undefined {
  const onPath = path.split(delimiter).filter((folder) => folder !== "");
  const installed = existsSync(postgresVersions)
    ? readdirSync(postgresVersions)
        .sort((left, right) => Number(right) - Number(left))
        .map((version) => join(postgresVersions, version, "bin"))
    : [];
  return [...onPath, ...installed].find((folder) =>
    ["initdb", "postgres"].every((program) => existsSync(join(folder, program))),
  );
}

/** A program that some tests need besides the npm packages. */
interface TestProgram {
  /** The package of Debian and Ubuntu that has it. */
  name: string;
  /** The tests that need it. */
  tests: string;
  found: () => boolean;
}

const programs: readonly TestProgram[] = [
  { name: "chromium", tests: "pages in a browser", found: () => findChromium(process.env) !== undefined },
  {
    name: "postgresql",
    tests: "the store in PostgreSQL",
    found: () => findPostgres(process.env) !== undefined,
  },
  {
    name: "python3-cryptography",
    tests: "the Python programs",
    found: () => succeeds("python3", "-c", "import cryptography"),
  },
  {
    name: "python3-pytest",
    tests: "the pytest example",
    found: () => succeeds("python3", "-c", "import pytest"),
  },
  { name: "golang-go", tests: "the Go programs", found: () => succeeds("go", "version") },
  { name: "jq", tests: "the shell examples", found: () => succeeds("jq", "--version") },
  { name: "curl", tests: "the shell examples", found: () => succeeds("curl", "--version") },
];

/**
 * Returns the programs that are not installed.
 *
 * @throws Error when `CHROMIUM_PATH` names no program.
 */
export function missingPrograms(): readonly TestProgram[] {
  return programs.filter(({ found }) => !found());
}

/** Returns whether a command exists and succeeds. */
function succeeds(program: string, ...args: string[]): boolean {
  return spawnSync(program, args, { stdio: "ignore" }).status === 0;
}
