import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { packageRoot } from "../../sandbox/lib/package-root.ts";

/**
 * Writes generated files; with --check on the command line it writes nothing, and the process fails when one is not current.
 *
 * @param files - the content of each, by its path in the repository.
 * @param source - what they are generated from, as it ends the sentence "docs/cli.md differs from …".
 * @example await writeGenerated({ "docs/cli.md": text }, "the commands")
 */
export async function writeGenerated(
  files: { readonly [path: string]: string },
  source: string,
): Promise<void> {
  for (const [path, generated] of Object.entries(files)) {
    const target = join(packageRoot(), path);
    if (!process.argv.includes("--check")) {
      await mkdir(dirname(target), { recursive: true });
      await writeFile(target, generated);
    } else if ((await readFile(target, "utf8")) !== generated) {
      console.error(`${path} differs from ${source}. Run \`npm run generate\`.`);
      process.exitCode = 1;
    }
  }
}
