/**
 * Writes the files that are generated from the code; with --check it writes nothing, and fails if one is not current. A generator loads the code when
 * the generators before it have written what this code loads.
 */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { packageRoot } from "../sandbox/lib/package-root.ts";

const generators: readonly (() => Promise<{ files: { readonly [path: string]: string } }>)[] = [
  () => import("./generate/abi.ts"),
  () => import("./generate/storage.ts"),
  () => import("./generate/openapi.ts"),
  () => import("./generate/cli.ts"),
  () => import("./generate/vectors.ts"),
  () => import("./generate/docs.ts"),
];

for (const generator of generators) {
  const { files } = await generator();
  for (const [path, generated] of Object.entries(files)) {
    const target = join(packageRoot(), path);
    if (!process.argv.includes("--check")) {
      await mkdir(dirname(target), { recursive: true });
      await writeFile(target, generated);
    } else if ((await readFile(target, "utf8")) !== generated) {
      console.error(`${path} differs from the code that it is generated from. Run npm run generate.`);
      process.exitCode = 1;
    }
  }
}
