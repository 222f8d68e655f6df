/**
 * Fails on each import that runs against the direction of the tables below. Arguments are the files to read; without any, it reads all of the
 * repository.
 */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path/posix";
import { parseSync, Visitor } from "rolldown/utils";
import { listFiles } from "./list-files.ts";

/**
 * The rooms of a folder, floor by floor, the lowest first: a file imports from its own room and from lower floors.
 */
const floorsOf: { readonly [folder: string]: readonly string[] } = {
  "": [
    "protocol",
    "relayer",
    "server",
    "sandbox",
    "testkit check-contract",
    "cli",
    "hardhat-plugin",
    "scripts portal",
    "test",
  ],
  "server/": [
    "lib limits.ts",
    "chain errors",
    "schemas",
    "store",
    "keys",
    "http",
    "binding notifications openapi pages transactions",
    "app.ts merchants programs relay",
    "access documentation purchases",
    "payments",
    "refunds",
    "wallets",
    "operations.ts",
  ],
  "sandbox/": [
    "lib",
    "chain relayer",
    "client faults options time",
    "data-directory deploy wallets",
    "explain snapshots",
    "activity",
    "receiver",
    "service",
    "cluster given scenarios",
    "explorer restored-state.ts index.ts",
    "trace",
    "control",
    "open-tools.ts",
    "create-sandbox.ts",
    "load-runtime.ts",
  ],
};

/** The floor of each room. */
const floors = new Map(
  Object.entries(floorsOf).flatMap(([folder, rooms]) =>
    rooms.flatMap((floor, height) => floor.split(" ").map((room) => [folder + room, height] as const)),
  ),
);

const args = process.argv.slice(2);
const files = args.length > 0 ? args : listFiles("*.ts", "*.mjs");
const found = files.flatMap((file) =>
  importsOf(file)
    .filter((imported) => Object.keys(floorsOf).some((folder) => isWrong(folder, file, imported)))
    .map(
      (imported) =>
        `${file}: it must not import ${imported}; scripts/lint/check-imports.ts has the direction.`,
    ),
);
for (const line of found) console.error(line);
if (found.length > 0) process.exitCode = 1;

/** The files of this project that a file imports, also types and at run time. */
function importsOf(file: string): string[] {
  const sources: string[] = [];
  const add = (node: { source: { type: string; value?: unknown } | null }) => {
    if (typeof node.source?.value === "string") sources.push(node.source.value);
  };
  new Visitor({
    ImportDeclaration: add,
    ExportNamedDeclaration: add,
    ExportAllDeclaration: add,
    ImportExpression: add,
  }).visit(parseSync(file, readFileSync(file, "utf8")).program);
  return sources.filter((source) => source.startsWith(".")).map((source) => join(dirname(file), source));
}

function isWrong(folder: string, file: string, imported: string): boolean {
  const [from, to] = [file, imported].map((path) =>
    path.startsWith(folder) ? folder + path.slice(folder.length).split("/")[0] : "",
  );
  const [height, lower] = [floors.get(from ?? ""), floors.get(to ?? "")];
  return height !== undefined && lower !== undefined && from !== to && lower >= height;
}
