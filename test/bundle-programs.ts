import { execFileSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { isCurrent, writeBundle } from "../scripts/write-bundle.ts";
import { bundledPrograms, programFile } from "./program-file.ts";

/** Has the programs that tests start be made of the sources as they are, also where only some tests are run after a change. */
export async function setup(): Promise<void> {
  const root = fileURLToPath(new URL("..", import.meta.url));
  execFileSync(process.execPath, [join(root, "scripts", "setup.mjs")], { stdio: "inherit" });
  const sourcesFile = join(root, bundledPrograms, "sources.txt");
  const names = readdirSync(join(root, "test", "programs")).map((file) => basename(file, ".ts"));
  if (names.every((name) => existsSync(programFile(name))) && isCurrent(sourcesFile)) return;
  const input = Object.fromEntries(names.map((name) => [name, `test/programs/${name}.ts`]));
  await writeBundle(input, { dir: bundledPrograms, format: "esm", chunkFileNames: "[name].js" }, sourcesFile);
}
