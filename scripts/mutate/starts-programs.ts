import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** The files that know the paths of the programs that tests start. */
const programs = new Set(["test/cli/program.ts", "test/program-file.ts"]);

/** Tells whether a test file, or what it imports from the tests, starts a program that is bundled from the sources. */
export function startsPrograms(folder: string, file: string, seen = new Set<string>()): boolean {
  if (programs.has(file)) return true;
  if (seen.has(file) || !file.startsWith("test/")) return false;
  seen.add(file);
  const imports = readFileSync(join(folder, file), "utf8").matchAll(/ from "(\.[^"]+\.ts)"/g);
  return [...imports].some(([, path = ""]) => startsPrograms(folder, join(dirname(file), path), seen));
}
