/**
 * Fails on each word of lint/words.ts, with its file and line and what to write instead. Arguments are the files to read; without any,
 * it reads all sources and documents of the repository.
 */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { type Word, words } from "./words.ts";

const kinds = ["md", "ts", "sol", "html", "css", "txt", "mjs", "sh", "yaml", "json"].map(
  (ending) => `*.${ending}`,
);
/** The list itself, what others wrote, and data. */
const skipped = [":!lint/words.ts", ":!portal/vendor", ":!package-lock.json", ":!test/**/*.json"];

const found = (process.argv.length > 2 ? process.argv.slice(2) : allFiles()).flatMap((file) =>
  words.flatMap((word) => uses(file, readFileSync(file, "utf8"), word)),
);
for (const line of found) console.error(line);
if (found.length > 0) process.exitCode = 1;

function allFiles(): string[] {
  const list = [
    "ls-files",
    "--cached",
    "--others",
    "--exclude-standard",
    "--",
    ...kinds,
    ".ci/run",
    ...skipped,
  ];
  // A file that is deleted and not committed yet is still listed.
  return execFileSync("git", list, { encoding: "utf8", maxBuffer: 2 ** 24 })
    .split("\n")
    .filter((file) => file !== "" && existsSync(file));
}

/** Returns a line for each use. A word in quotes of its own is a quotation, and one after `.` or `#` a name in code. */
function uses(file: string, text: string, { forms, instead }: Word): string[] {
  // A sentence may continue on the next line of a comment.
  const form = forms.map((words) => either(words).replaceAll(" ", "[\\s*/]+")).join("|");
  const pattern = new RegExp(`(?<![#.\\w-])(?<!(["'\`])(?=(?:${form})\\1))(?:${form})(?![\\w-])`, "g");
  return [...text.matchAll(pattern)].map(({ 0: used, index }) => {
    const line = text.slice(0, index).split("\n").length;
    return `${file}:${line}: "${used.replaceAll(/[\s*/]+/g, " ")}": write ${instead}.`;
  });
}

/** A form with its first letter in either case: `noBody` is not a word. */
function either(form: string): string {
  const [first = ""] = form;
  return `[${first.toUpperCase()}${first}]${form.slice(1)}`;
}
