/**
 * Writes .bundle/: the command line with everything that it loads in one file, which starts in half the time that 1,400 files take.
 *
 * A file of CommonJS: an ES module's import of node:http also loads Node's fetch, 30 ms that a start has no use for.
 */
import { mkdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { rolldown } from "rolldown";
import { packageRoot } from "../sandbox/genesis/package-root.ts";

const root = packageRoot();
// As deep as sandbox/genesis/ and dist/sandbox/, from where what is read at run time is looked for.
const folder = join(root, ".bundle", "sandbox");
const sourcesFile = join(root, ".bundle", "sources.txt");

/** Has what the large file is compiled to kept. */
const entry = `const { enableCompileCache } = require("node:module");
const { join } = require("node:path");
enableCompileCache(join(__dirname, "..", "..", "node_modules", ".cache", "routing-sandbox"));
require("./command-line.cjs").runCommandLine();
`;

const bundle = await rolldown({
  input: join(root, "sandbox", "command-line.ts"),
  platform: "node",
  // pg loads it if somebody has installed it.
  external: ["pg-native"],
});
const { output } = await bundle.generate({ format: "cjs", codeSplitting: false });
const watched = (await bundle.watchFiles).map((path) => relative(root, path));
await bundle.close();

mkdirSync(folder, { recursive: true });
// A bundle of which it is not known what it was made of is made again.
rmSync(sourcesFile, { force: true });
writeWhole(join(folder, "command-line.cjs"), output[0].code);
writeWhole(join(folder, "cli.cjs"), entry);
const sources = ["package-lock.json", ...watched.filter((path) => !path.includes("node_modules"))];
writeWhole(sourcesFile, sources.map(describe).join("\n"));

/** A source as scripts/setup.mjs compares it. */
function describe(path: string): string {
  const { mtimeMs, size } = statSync(join(root, path));
  return `${mtimeMs} ${size} ${path}`;
}

function writeWhole(file: string, text: string): void {
  const part = `${file}.${process.pid}`;
  writeFileSync(part, text);
  renameSync(part, file);
}
