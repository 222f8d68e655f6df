import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { type InputOptions, type OutputOptions, rolldown } from "rolldown";
import { packageRoot } from "../sandbox/lib/package-root.ts";

const root = packageRoot();

/**
 * Bundles programs with everything that they load, and then notes what sources they were made of.
 *
 * @param sourcesFile - where that is noted, a line for each source: when it was written, how long it is, and its path.
 * @example
 * await writeBundle({ start: "test/start.ts" }, { dir: ".bundle/test", format: "esm" }, ".bundle/test/sources.txt");
 */
export async function writeBundle(
  input: Exclude<InputOptions["input"], undefined>,
  output: OutputOptions,
  sourcesFile: string,
): Promise<void> {
  // pg loads pg-native if somebody has installed it.
  const bundle = await rolldown({ cwd: root, input, platform: "node", external: ["pg-native"] });
  const { output: files } = await bundle.generate(output);
  const watched = (await bundle.watchFiles).map((path) => relative(root, path));
  await bundle.close();
  // A bundle of which it is not known what it was made of is made again.
  rmSync(sourcesFile, { force: true });
  const { dir = "." } = output;
  for (const file of files) if (file.type === "chunk") writeWhole(join(root, dir, file.fileName), file.code);
  const sources = ["package-lock.json", ...watched.filter((path) => !path.includes("node_modules"))];
  writeWhole(sourcesFile, sources.map(describe).join("\n"));
}

/** Whether a bundle is there and its sources are as they were; scripts/setup.mjs asks the same before anything is installed. */
export function isCurrent(sourcesFile: string): boolean {
  try {
    const lines = readFileSync(sourcesFile, "utf8").split("\n");
    return lines.every((line) => line === describe(line.replace(/^\S+ \S+ /, "")));
  } catch {
    return false;
  }
}

/** Writes a file so that it is there whole or not at all. */
export function writeWhole(file: string, text: string): void {
  const part = `${file}.${process.pid}`;
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(part, text);
  renameSync(part, file);
}

function describe(path: string): string {
  const { mtimeMs, size } = statSync(join(root, path));
  return `${mtimeMs} ${size} ${path}`;
}
