import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, normalize } from "node:path";
import { promisify } from "node:util";
import { beforeAll, expect, inject, test } from "vitest";

const execute = promisify(execFile);

let folder: string;
let files: readonly string[];
/** The sources that the source maps name, by their paths in the repository. */
let sources: readonly string[];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "routing-sandbox-links-"));
  const { stdout } = await execute("tar", ["-xvzf", inject("tarball"), "-C", folder], { maxBuffer: 2 ** 24 });
  files = stdout
    .trim()
    .split("\n")
    .map((file) => file.replace(/^(?:x )?package\//, ""));
  const maps = files.filter((file) => file.endsWith(".js.map"));
  const named = maps.map(async (file) => {
    const map: { sources: string[] } = JSON.parse(await read(file));
    return map.sources.map((source) => normalize(join(file, "..", source)));
  });
  sources = (await Promise.all(named)).flat();
  return async () => await rm(folder, { recursive: true });
});

async function read(file: string): Promise<string> {
  return await readFile(join(folder, "package", file), "utf8");
}

/** Returns whether the package has a file or a folder; of a source file it has what it compiles to, below dist/, which a source map names. */
function isShipped(target: string): boolean {
  const compiled = join("dist", target.replace(/\.ts$/, ".js"));
  return [...files, ...sources].some(
    (file) => file === target || file === compiled || file.startsWith(`${target}/`),
  );
}

test("each link and picture of a document in the package is a file of the package, except screenshots, which would make it too large", async () => {
  const documents = files.filter((file) => /^(?:docs\/)?[^/]+\.md$/.test(file));
  expect(documents).toEqual(expect.arrayContaining(["README.md", "ARCHITECTURE.md", "docs/tests.md"]));
  const dead: string[] = [];
  for (const document of documents) {
    const text = (await read(document)).replaceAll(/^```.*?^```$/gms, "");
    for (const [, target = ""] of text.matchAll(/\]\((?!https?:|#)([^)#\s]+)/g))
      if (!isShipped(normalize(join(document, "..", target)))) dead.push(`${document}: ${target}`);
  }
  expect(dead.filter((one) => !/: (?:docs\/)?screenshots\/[a-z-]+\.png$/.test(one))).toEqual([]);
});

test("each document that a message or a help text names is in the package", async () => {
  const named: { file: string; document: string }[] = [];
  for (const file of files.filter((name) => /^dist\/.*\.js$/.test(name)))
    for (const [document] of (await read(file)).matchAll(/\bdocs\/[a-z-]+\.md\b|\b[A-Z]{6,}\.md\b/g))
      named.push({ file, document });
  expect(named.length).toBeGreaterThan(5);
  expect(named.filter(({ document }) => !files.includes(document))).toEqual([]);
});
