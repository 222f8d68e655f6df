/**
 * Fails on each word of scripts/lint/words.ts, in a text, at the start of a sentence or in an exported name, and on the marks of a merge that was
 * not resolved, with file and line and what to write instead. Arguments are the files to read; without any, it reads all sources and
 * documents of the repository.
 */
import { readFileSync } from "node:fs";
import { listFiles } from "./list-files.ts";
import { names, starts, type Word, words } from "./words.ts";

const kinds = ["md", "ts", "sol", "html", "css", "txt", "mjs", "sh", "yaml", "json", "diff"].map(
  (ending) => `*.${ending}`,
);
/** The list itself, what others wrote, and data. */
const skipped = [":!scripts/lint/words.ts", ":!portal/vendor", ":!package-lock.json", ":!test/**/*.json"];

const found = (
  process.argv.length > 2 ? process.argv.slice(2) : listFiles(...kinds, ".ci/run", ...skipped)
).flatMap((file) => {
  const text = readFileSync(file, "utf8");
  return [
    ...words.flatMap((word) => uses(file, text, word)),
    ...starts.flatMap((word) => sentenceStarts(file, text, word)),
    ...exportedNames(file, text),
    ...mergeMarks(file, text),
  ];
});
for (const line of found) console.error(line);
if (found.length > 0) process.exitCode = 1;

/** Returns a line for each use. A word in quotes of its own is a quotation, and one after `.` or `#` a name in code. */
function uses(file: string, text: string, { forms, before, instead }: Word): string[] {
  // A sentence may continue on the next line of a comment.
  const gap = "[\\s*/]+";
  const form = forms.map((words) => either(words).replaceAll(" ", gap)).join("|");
  const other = before === undefined ? "" : `(?!${gap}${before}\\b)`;
  const pattern = new RegExp(
    `(?<![#.\\w-])(?<!(["'\`])(?=(?:${form})\\1))(?:${form})(?![\\w-])${other}`,
    "g",
  );
  return [...text.matchAll(pattern)].map(({ 0: used, index }) => {
    return `${file}:${lineAt(text, index)}: "${used.replaceAll(/[\s*/]+/g, " ")}": write ${instead}.`;
  });
}

/**
 * Returns a line for each comment or sentence that starts with a word. Headings, cells of tables, labels (texts in quotes without a period)
 * and questions of one line pass.
 */
function sentenceStarts(file: string, text: string, { forms, instead }: Word): string[] {
  const starts = [
    /[.!?][)"'`*_]* +/,
    /(?:\/\*\*?|\/\/+|^[ \t]*\*)[ \t]*/,
    file.endsWith(".md") ? /^[ \t]*(?:(?:[-+>]|\d+\.) +)*\**/ : /^[ \t]*#+[ \t]*/,
    /["`](?=[^"`\n]*[.!])/,
  ];
  const start = starts.map(({ source }) => source).join("|");
  const pattern = new RegExp(`(?:${start})(${forms.join("|")})(?=\\s)(?![^.!?\n]*\\?)`, "gm");
  return [...text.matchAll(pattern)].map(({ 0: used, 1: form, index }) => {
    const line = lineAt(text, index + used.length);
    return `${file}:${line}: a sentence that starts with "${form}": write ${instead}.`;
  });
}

/** Returns a line for each mark of a merge that was not resolved. */
function mergeMarks(file: string, text: string): string[] {
  return [...text.matchAll(/^(?:<{7}|>{7}) /gm)].map(
    ({ index }) => `${file}:${lineAt(text, index)}: a merge mark: write what is to stay.`,
  );
}

/** Returns a line for each exported name of a module, or contract of a Solidity file, that has a word of `names`. */
function exportedNames(file: string, text: string): string[] {
  const pattern = file.endsWith(".sol")
    ? /^(?:abstract )?(?:contract|interface|library) (\w+)/gm
    : /^export (?:default |abstract |declare |async )*(?:const|let|function\*?|class|interface|type|enum) (\w+)/gm;
  return [...text.matchAll(pattern)].flatMap(({ 1: name = "", index }) => {
    const parts = name.match(/[A-Z]+(?![a-z])|[A-Z]?[a-z]+/g)?.map((part) => part.toLowerCase()) ?? [];
    return names
      .filter(({ forms }) => forms.some((form) => parts.includes(form)))
      .map(({ instead }) => `${file}:${lineAt(text, index)}: the name ${name}: write ${instead}.`);
  });
}

function lineAt(text: string, index: number): number {
  return text.slice(0, index).split("\n").length;
}

/** A form with its first letter in either case: `noBody` is not a word. */
function either(form: string): string {
  const [first = ""] = form;
  return `[${first.toUpperCase()}${first}]${form.slice(1)}`;
}
