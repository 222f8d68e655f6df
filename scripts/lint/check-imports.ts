/**
 * Fails on each import that runs against the direction of the tables below. Arguments are the files to read; without any, it reads all of the
 * repository.
 */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path/posix";
import { parseSync, Visitor } from "rolldown/utils";
import { listFiles } from "./list-files.ts";

/**
 * The rooms of a folder, floor by floor, the lowest first: a file imports from its own room and from lower floors. Rooms that are joined by a
 * plus sign are one.
 */
const floorsOf: { readonly [folder: string]: readonly string[] } = {
  "": [
    "protocol",
    "relayer",
    "server",
    "sandbox",
    "check-client",
    "testkit check-contract",
    "cli",
    "hardhat-plugin",
    "scripts portal",
    "test",
  ],
  "sandbox/": [
    "lib",
    "chain",
    "options",
    "client",
    "wallets",
    "activity+cluster+control+data-directory+deploy+explain+explorer+faults+given+receiver+relayer+scenarios+service+snapshots+time+trace",
    "restored-state.ts",
    "open-tools.ts",
    "create-sandbox.ts",
    "load-runtime.ts",
    "index.ts",
  ],
};

/** The floor of each room, and a name that rooms that are one share. */
const rooms = new Map(
  Object.entries(floorsOf).flatMap(([folder, floors]) =>
    floors.flatMap((floor, height) =>
      floor
        .split(" ")
        .flatMap((joined) => joined.split("+").map((room) => [folder + room, { height, joined }] as const)),
    ),
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
    path.startsWith(folder) ? rooms.get(folder + path.slice(folder.length).split("/")[0]) : undefined,
  );
  return from !== undefined && to !== undefined && from.joined !== to.joined && to.height >= from.height;
}
