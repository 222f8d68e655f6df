/**
 * Fails on each function of over 60 lines without a comment `// Long: <reason>` on the line above it, and on each such comment that is
 * above no long function. The lines of a function are those from its declaration to its end, with empty lines and comments. A callback of
 * `describe` has no limit: it is a list of tests. Arguments are the files to read; without any, it reads all of the repository.
 */
import { readFileSync } from "node:fs";
import { type ESTree, parseSync, Visitor } from "rolldown/utils";
import { listFiles } from "./list-files.ts";

const mostLines = 60;

const args = process.argv.slice(2);
const files = args.length > 0 ? args : listFiles("*.ts", "*.mjs", "*.js", ":!portal/vendor");
const found = files.flatMap((file) => check(file, readFileSync(file, "utf8")));
for (const line of found) console.error(line);
if (found.length > 0) process.exitCode = 1;

function check(file: string, text: string): string[] {
  const { program, comments, errors } = parseSync(file, text);
  if (errors.length > 0) return errors.map(({ message }) => `${file}: ${message}`);
  const starts = [...text.matchAll(/^/gm)].map(({ index }) => index);
  const lineAt = (index: number) => starts.findLastIndex((start) => start <= index) + 1;
  const reasons = new Set(
    comments.filter(({ value }) => /^ Long: \S/.test(value)).map(({ start }) => lineAt(start)),
  );
  const problems: string[] = [];
  for (const { start, end } of functionsOf(program)) {
    const first = lineAt(start);
    const count = lineAt(end) - first + 1;
    if (count > mostLines && !reasons.delete(first - 1))
      problems.push(
        `${file}:${first}: a function of ${count} lines: split it, or write // Long: and the reason on the line above it.`,
      );
  }
  for (const line of reasons)
    problems.push(`${file}:${line}: "Long:" is above no function of over ${mostLines} lines: delete it.`);
  return problems;
}

/** Returns the ranges of all functions but the callbacks of `describe`. */
function functionsOf(program: ESTree.Program): ESTree.Span[] {
  const found = new Set<ESTree.Span>();
  const lists = new Set<ESTree.Span>();
  const add = (range: ESTree.Span) => found.add(range);
  new Visitor({
    FunctionDeclaration: add,
    FunctionExpression: add,
    ArrowFunctionExpression: add,
    CallExpression({ callee, arguments: passed }) {
      if (isDescribe(callee)) for (const argument of passed) lists.add(argument);
    },
  }).visit(program);
  return [...found].filter((range) => !lists.has(range));
}

/** Whether a call is one of `describe`, or of `describe.each(…)` and the like. */
function isDescribe(callee: ESTree.Node): boolean {
  if (callee.type === "Identifier") return callee.name === "describe";
  if (callee.type === "MemberExpression") return isDescribe(callee.object);
  return callee.type === "CallExpression" && isDescribe(callee.callee);
}
