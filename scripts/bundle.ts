/**
 * Writes .bundle/: the command line with everything that it loads in one file, which starts in half the time that 1,400 files take.
 *
 * A file of CommonJS: an ES module's import of node:http also loads Node's fetch, 30 ms that a start has no use for.
 */
import { join } from "node:path";
import { packageRoot } from "../sandbox/lib/package-root.ts";
import { writeBundle, writeForAll } from "./write-bundle.ts";

const folder = join(packageRoot(), ".bundle");
// As deep as sandbox/lib/ and dist/cli/, from where what is read at run time is looked for.
const dir = join(".bundle", "cli");

/** Has what the large file is compiled to kept. */
const entry = `const { enableCompileCache } = require("node:module");
const { join } = require("node:path");
enableCompileCache(join(__dirname, "..", "..", "node_modules", ".cache", "routing-sandbox"));
require("./command-line.cjs").runCommandLine();
`;

await writeForAll(join(folder, "cli", "main.cjs"), entry);
await writeBundle(
  { "command-line": join("cli", "command-line.ts") },
  { dir, format: "cjs", codeSplitting: false, entryFileNames: "[name].cjs" },
  join(folder, "sources.txt"),
);
