import { spawnSync } from "node:child_process";
import { findChromium } from "./find-chromium.ts";
import { findPostgres } from "./find-postgres.ts";

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
