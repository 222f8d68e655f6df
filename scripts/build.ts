/**
 * Writes dist/, all that the package ships and runs from: its programs in few files, their declarations, what they read at run time, the
 * compiled contracts and the prepared chain, in the same places as in a checkout.
 */
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { brotliCompressSync, constants } from "node:zlib";
import { decode, encode } from "@jridgewell/sourcemap-codec";
import { rolldown, type SourceMap } from "rolldown";
import { z } from "zod";
import { encodeReference, recordReference, referenceFile } from "../check-contract/reference.ts";
import { loadGenesis } from "../sandbox/chain/genesis/genesis-cache.ts";
import { packageRoot } from "../sandbox/lib/package-root.ts";

const root = packageRoot();
const dist = join(root, "dist");
const manifest = z
  .object({ exports: z.record(z.string(), z.string()) })
  .parse(JSON.parse(readFileSync(join(root, "package.json"), "utf8")));

rmSync(dist, { recursive: true, force: true });
// Comments are for readers of declarations; programs run without them.
compile("--project", join("scripts", "tsconfig.build.json"), "--emitDeclarationOnly");
await bundlePrograms();
await bundlePages();

// The compiler rewrites the extensions of imports in programs but not in declarations, where an import without names says nothing.
for (const file of filesIn(dist).filter((name) => name.endsWith(".d.ts"))) {
  const path = join(dist, file);
  const text = readFileSync(path, "utf8").replaceAll(/^import "\.[^"]*";\n/gm, "");
  writeFileSync(path, text.replaceAll(/((?:from |import\()"\.[^"]*)\.ts"/g, '$1.js"'));
}

// The exports of the package are all that can be imported: a declaration that they do not lead to is never found.
const declared = declarationsOf(Object.values(manifest.exports).filter((file) => file.endsWith(".js")));
for (const file of filesIn(dist).filter((name) => name.endsWith(".d.ts")))
  if (!declared.has(join(dist, file))) rmSync(join(dist, file));

// The guide is in the package as it is in the checkout.
for (const folder of ["sandbox", "portal"])
  for (const file of filesIn(join(root, folder)).filter(
    (name) => !/\.ts$|tsconfig\.json$|^docs\.md$/.test(name),
  ))
    cpSync(join(root, folder, file), join(dist, folder, file));

// Users name their paths below the package.
cpSync(join(root, "examples", "scenarios"), join(root, "scenarios"), { recursive: true });

// The artifacts of the contracts' own tests are in the same folder once the tests have run; interfaces have no code to deploy.
const isShipped = (name: string) =>
  name.endsWith(".json") && !/^(?:test|interfaces|hashing|mocks|conformance)\//.test(name);
for (const file of filesIn(join(root, "artifacts", "contracts")).filter(isShipped)) {
  const path = join(dist, "artifacts", "contracts", file);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, JSON.stringify(readJson(join(root, "artifacts", "contracts", file))));
}
// Adversaries and proxies are deployed and nothing else.
for (const file of ["adversaries", "proxies"].flatMap(artifactsIn)) {
  const path = join(dist, "artifacts", "contracts", file);
  const { contractName, bytecode } = readJson(path);
  writeFileSync(path, JSON.stringify({ contractName, bytecode }));
}

// Most of the state is bytecode that is there several times: compressed with a large window, it takes a tenth of the space that npm's gzip needs.
const { key, stateFile } = await loadGenesis();
const genesis = join(dist, ".genesis", key);
cpSync(join(root, ".genesis", key, "genesis.json"), join(genesis, "genesis.json"));
writeFileSync(
  join(genesis, "state.json.br"),
  brotliCompressSync(readFileSync(stateFile), { params: { [constants.BROTLI_PARAM_LGWIN]: 24 } }),
);

// To check a contract, it is compared with the own one, which stays the same in a package.
writeFileSync(join(dist, referenceFile), encodeReference(await recordReference()));

/**
 * Writes the command line and all exports of the package, each with its own modules in few files, which load in half the time of
 * their 700 modules. Packages stay outside: a program that has loaded one already shares it.
 */
async function bundlePrograms(): Promise<void> {
  const programs = [...Object.values(manifest.exports), "./dist/cli/main.js"].filter((file) =>
    file.endsWith(".js"),
  );
  const entries = programs.map((file) => file.replace(/^\.\/dist\/(.*)\.js$/, "$1"));
  const bundle = await rolldown({
    cwd: root,
    input: Object.fromEntries(entries.map((entry) => [entry, `${entry}.ts`])),
    platform: "node",
    // As in tsconfig.json: the oldest Node that runs the package does not know `await using`.
    transform: { target: "es2024" },
    // Source maps name the files.
    experimental: { attachDebugInfo: "none" },
    // The exception is what that syntax is replaced with.
    external: (name, importer) => importer !== undefined && !/^(?:[./]|@oxc-project\/runtime)/.test(name),
  });
  // As deep as sandbox/lib/, from where what is read at run time is looked for.
  const chunks = join("bundle", "chunks", "[name].js");
  const output = { dir: dist, entryFileNames: "[name].js", chunkFileNames: chunks };
  const { output: files } = await bundle.generate({ ...output, comments: false, sourcemap: true });
  await bundle.close();
  for (const file of files) {
    if (file.type !== "chunk") continue;
    const path = join(dist, file.fileName);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, file.code);
    if (file.map !== null) writeFileSync(`${path}.map`, JSON.stringify(mapOfLines(file.map)));
  }
}

/**
 * A source map with the place of each line alone, a twentieth of the whole map. The sources are not in the package: their paths are those
 * of the repository.
 */
function mapOfLines({ file, mappings, sources }: SourceMap) {
  const lines = decode(mappings).map((segments) =>
    segments
      .slice(0, 1)
      .map(([, source = 0, line = 0]): [number, number, number, number] => [0, source, line, 0]),
  );
  return { version: 3, file, sources, names: [], mappings: encode(lines) };
}

/** Writes the script of each page as one file with what it imports: a browser asks for no module after another one. */
async function bundlePages(): Promise<void> {
  for (const page of ["documentation", "explorer", "reference", "wallet"]) {
    const main = join("portal", page, "main");
    const litHtml = join(root, "node_modules", "lit-html");
    const bundle = await rolldown({
      cwd: root,
      input: `${main}.ts`,
      platform: "browser",
      plugins: [
        {
          name: "the packages that pages name as they are served",
          resolveId: {
            filter: { id: /\/vendor\/lit-html\// },
            handler: (id) => id.replace(/^.*\/vendor\/lit-html/, litHtml),
          },
        },
      ],
    });
    await bundle.write({
      file: join(dist, `${main}.js`),
      comments: { legal: true, jsdoc: false, annotation: false },
    });
    await bundle.close();
  }
}

function artifactsIn(folder: string): string[] {
  return filesIn(join(dist, "artifacts", "contracts", folder)).map((file) => join(folder, file));
}

function readJson(path: string) {
  return JSON.parse(readFileSync(path, "utf8"));
}

function compile(...options: string[]): void {
  execFileSync(join(root, "node_modules", ".bin", "tsc"), options, { cwd: root, stdio: "inherit" });
}

/** The declarations of modules, by their paths from the root, and all that those import. */
function declarationsOf(modules: readonly string[]): ReadonlySet<string> {
  const found = new Set(modules.map((module) => join(root, module.replace(/\.js$/, ".d.ts"))));
  for (const file of found)
    for (const [, imported = ""] of readFileSync(file, "utf8").matchAll(/(?:from |import\()"(\.[^"]*)\.js"/g))
      found.add(join(dirname(file), `${imported}.d.ts`));
  return found;
}

/** The files below a folder, relative to it. */
function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));
}
