import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { stripVTControlCharacters } from "node:util";
import { packageRoot } from "../../sandbox/lib/package-root.ts";
import type { TraceFailure } from "../../sandbox/trace/trace-view.ts";
import { escapeLines } from "../../server/lib/escape-controls.ts";

/** The longest file of a test that is read, in bytes. */
const mostSourceBytes = 4 * 2 ** 20;

/** The number of lines before and after the line that failed. */
const linesAround = 5;

/**
 * Returns the place that an error comes from, with the code of the test around it: the line in the test's own file, else the line of the test's
 * title.
 *
 * @example readPlace(error.stack, { file: "/project/pays.test.ts", title: "pays" }).at?.line // 12
 */
export function readPlace(
  stack: string,
  { file, title }: { file: string; title: string },
): Pick<TraceFailure, "at" | "code"> {
  const at = findFrame(stack, file) ?? findTitle(file, title);
  return { at, code: at.line === null ? [] : readCode(at.file, at.line) };
}

/** Returns whether a file is of a package, which may also be this one in a checkout or linked from elsewhere. */
function isOfPackage(file: string): boolean {
  const own = ["bundle", "protocol", "relayer", "sandbox", "server", "testkit"];
  return (
    file.includes("/node_modules/") || own.some((folder) => file.startsWith(join(packageRoot(), folder, "/")))
  );
}

/** The place in the test's own file that an error comes from, else the first one outside of packages. */
function findFrame(stack: string, testFile: string): TraceFailure["at"] {
  const frames = [...stack.matchAll(/(?:\(|at )((?:file:\/\/)?\/[^():]+):(\d+):(\d+)/g)].map(
    ([, path = "", line, column]) => ({
      file: path.startsWith("file:") ? fileURLToPath(path) : path,
      line: Number(line),
      column: Number(column),
    }),
  );
  const own = frames.find(({ file }) => file === testFile);
  return own ?? frames.find(({ file }) => !isOfPackage(file)) ?? null;
}

/** The line of a test's title; a title that is made from data is on no line. */
function findTitle(file: string, title: string): NonNullable<TraceFailure["at"]> {
  const quoted = ['"', "'", "`"].map((quote) => `${quote}${title}${quote}`);
  const index = readLines(file).findIndex((line) => quoted.some((text) => line.includes(text)));
  return index === -1 ? { file, line: null, column: null } : { file, line: index + 1, column: 1 };
}

function readCode(file: string, line: number): TraceFailure["code"] {
  const lines = readLines(file);
  const { first, last } = blockAround(lines, line);
  const from = Math.max(first, line - linesAround);
  const to = Math.min(last, from + 2 * linesAround);
  return lines.slice(from - 1, to).map((text, index) => ({ line: from + index, text: withoutColors(text) }));
}

/** The lines of the test around a line, or of the function around it: from its first line to the one that closes it, by their indentation. */
function blockAround(lines: readonly string[], line: number): { first: number; last: number } {
  const indentOf = (text: string | undefined = "") => text.length - text.trimStart().length;
  const isStart = (text: string) => /^\s*(?:(?:export\s+)?(?:async\s+)?function\b|(?:test|it)\b)/.test(text);
  const first = lines.slice(0, line).findLastIndex(isStart);
  if (first === -1) return { first: 1, last: lines.length };
  const indent = indentOf(lines[first]);
  const isClosing = (text: string) => indentOf(text) === indent && /^\s*[})\]]/.test(text);
  const length = lines.slice(first + 1).findIndex(isClosing);
  const last = length === -1 ? lines.length : first + length + 2;
  return line > last ? { first: last + 1, last: lines.length } : { first: first + 1, last };
}

function readLines(file: string): string[] {
  try {
    const there = statSync(file);
    // The text of an error can look like a place: a device might never end.
    return there.isFile() && there.size <= mostSourceBytes ? readFileSync(file, "utf8").split("\n") : [];
  } catch {
    return [];
  }
}

/** A text without the colors of a terminal. */
export function withoutColors(text: string): string {
  return escapeLines(stripVTControlCharacters(text));
}
