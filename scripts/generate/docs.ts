/**
 * Writes the tables of docs/*.md and the limits that their prose names; with --check it only says whether they are current.
 */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { packageRoot } from "../../sandbox/lib/package-root.ts";
import { fillPage } from "./fill-page.ts";
import { writeGenerated } from "./write-generated.ts";

const folder = join(packageRoot(), "docs");
const pages = (await readdir(folder)).filter((name) => name.endsWith(".md"));
const filled = pages.map(async (name) => {
  const page = await readFile(join(folder, name), "utf8");
  return [`docs/${name}`, fillPage(name, page)] as const;
});
await writeGenerated(
  Object.fromEntries(await Promise.all(filled)),
  "the operations, the RPC methods or the limits",
);
