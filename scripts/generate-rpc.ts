/**
 * Writes the tables of docs/rpc.md from the methods that the chain's RPC passes on and refuses; with --check it only says whether the
 * file is current.
 */
import { readFile, writeFile } from "node:fs/promises";
import { renderRpcTables } from "./rpc-tables.ts";

const target = new URL("../docs/rpc.md", import.meta.url);
const page = await readFile(target, "utf8");
const generated = renderRpcTables(page);

if (!process.argv.includes("--check")) await writeFile(target, generated);
else if (generated !== page) {
  console.error("docs/rpc.md is not what sandbox/chain/rpc says. Run `npm run generate`.");
  process.exitCode = 1;
}
