import { readFileSync, rmSync, statSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { type InputOptions, type OutputOptions, rolldown } from "rolldown";
import { packageRoot } from "../sandbox/lib/package-root.ts";
import { replaceFile } from "../server/lib/replace-file.ts";

const root = packageRoot();

/**
 * Bundles programs with everything that they load, and then notes what sources they were made of.
 *
 * @param sourcesFile - where that is noted, a line for each source: when it was written, how long it is, and its path.
 */
export async function writeBundle(
  input: Exclude<InputOptions["input"], undefined>,
  output: OutputOptions,
  sourcesFile: string,
): Promise<void> {
  // pg loads pg-native if it is installed; vitest has one copy in a process, the runner's.
  const bundle = await rolldown({ cwd: root, input, platform: "node", external: ["pg-native", "vitest"] });
  const { output: files } = await bundle.generate(output);
  const watched = (await bundle.watchFiles).map((path) => relative(root, path));
  await bundle.close();
  // A bundle of which it is not known what it was made of is made again.
  rmSync(sourcesFile, { force: true });
  const { dir = "." } = output;
  for (const file of files)
    if (file.type === "chunk") await writeForAll(join(root, dir, file.fileName), toAscii(file.code));
  const sources = ["package-lock.json", ...watched.filter((path) => !path.includes("node_modules"))];
  await writeForAll(sourcesFile, sources.map(describe).join("\n"));
}

/**
 * Returns whether a bundle exists and its sources are unchanged; scripts/setup.mjs checks the same before anything is
 * installed.
 */
export function isCurrent(sourcesFile: string): boolean {
  try {
    const lines = readFileSync(sourcesFile, "utf8").split("\n");
    return lines.every((line) => line === describe(line.replace(/^\S+ \S+ /, "")));
  } catch {
    return false;
  }
}

/** Writes a file, whole or not at all, for every user of the checkout; several processes may do so at once. */
export async function writeForAll(file: string, text: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await replaceFile(file, text, { mode: 0o666, next: `${file}.${process.pid}` });
}

/** Code with an escape for each other character, as long as none is behind a backslash: Node reads ASCII in half the time and memory. */
function toAscii(code: string): string {
  if (/\\[^\0-\x7f]/.test(code)) return code;
  return code.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

function describe(path: string): string {
  const { mtimeMs, size } = statSync(join(root, path));
  return `${mtimeMs} ${size} ${path}`;
}
