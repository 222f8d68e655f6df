import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, normalize } from "node:path";
import { promisify } from "node:util";
import { beforeAll, expect, inject, test } from "vitest";

const execute = promisify(execFile);

let folder: string;
let files: readonly string[];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "routing-sandbox-links-"));
  const { stdout } = await execute("tar", ["-xvzf", inject("tarball"), "-C", folder], { maxBuffer: 2 ** 24 });
  files = stdout
    .trim()
    .split("\n")
    .map((file) => file.replace(/^(?:x )?package\//, ""));
  return async () => await rm(folder, { recursive: true });
});

async function read(file: string): Promise<string> {
  return await readFile(join(folder, "package", file), "utf8");
}

/** Returns whether the package has a file or a folder. */
function isShipped(target: string): boolean {
  return files.some((file) => file === target || file.startsWith(`${target}/`));
}

test("each link and picture of a document in the package is a file of the package", async () => {
  const documents = files.filter((file) => /^(?:docs\/)?[^/]+\.md$/.test(file));
  expect(documents).toEqual(expect.arrayContaining(["README.md", "docs/pages.md"]));
  const dead: string[] = [];
  for (const document of documents) {
    const text = (await read(document)).replaceAll(/^```.*?^```$/gms, "");
    for (const [, target = ""] of text.matchAll(/\]\((?!https?:|#)([^)#\s]+)/g))
      if (!isShipped(normalize(join(document, "..", target)))) dead.push(`${document}: ${target}`);
  }
  expect(dead).toEqual([]);
});

test("each document that a message or a help text names is in the package", async () => {
  const named: { file: string; document: string }[] = [];
  for (const file of files.filter((name) => /^dist\/.*\.js$/.test(name)))
    for (const [document] of (await read(file)).matchAll(/\bdocs\/[a-z-]+\.md\b|\b[A-Z]{6,}\.md\b/g))
      named.push({ file, document });
  expect(named.length).toBeGreaterThan(5);
  expect(named.filter(({ document }) => !files.includes(document))).toEqual([]);
});
