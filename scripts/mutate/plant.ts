import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseAst } from "rolldown/parseAst";
import buildConfig from "../tsconfig.build.json" with { type: "json" };
import type { Bug } from "./bug.ts";

/** The text of every source file of a checkout, by its path in there. */
export type Sources = ReadonlyMap<string, string>;

/** A source file with a bug in it. */
export interface Planted {
  file: string;
  source: string;
}

/** Reads the sources of the package, in which bugs are planted. */
export function readSources(checkout: string): Sources {
  const folders = buildConfig.include.map((folder) => folder.replace("../", ""));
  const files = globSync(
    folders.map((folder) => `${folder}/**/*.ts`),
    { cwd: checkout },
  );
  return new Map(files.map((file) => [file, readFileSync(join(checkout, file), "utf8")]));
}

/**
 * Plants a bug in the one file that declares what it is of, exported or not.
 *
 * @throws Error when no file declares it, or several do.
 */
export function plant({ rule, of, bug }: Pick<Bug, "rule" | "of" | "bug">, sources: Sources): Planted {
  const [name = "", method] = of.split(".");
  const found = [...sources].flatMap(([file, source]) => {
    if (!source.includes(name)) return [];
    const planted = plantIn(source, name, method, String(bug));
    return planted === null ? [] : [{ file, source: planted }];
  });
  const [planted, ...others] = found;
  const broken = `The planted bug "${rule}" is of ${of}`;
  if (planted === undefined)
    throw new Error(`${broken}, which no source file declares. Name what has the rule now.`);
  if (others.length > 0)
    throw new Error(
      `${broken}, which several source files declare: ${found.map(({ file }) => file).join(", ")}. Name what one file declares.`,
    );
  // Throws unless the bug is JavaScript.
  parseAst(planted.source, { lang: "ts" });
  return planted;
}

/** Returns a source with the bug in place of a declaration; null when it does not have it. */
function plantIn(source: string, name: string, method: string | undefined, bug: string): string | null {
  const edits: { start: number; end: number; text: string }[] = [];
  let appended = "";
  for (const statement of parseAst(source, { lang: "ts" }).body) {
    const declaration = statement.type === "ExportNamedDeclaration" ? statement.declaration : statement;
    if (declaration?.type === "FunctionDeclaration" || declaration?.type === "TSDeclareFunction") {
      if (declaration.id?.name !== name || method !== undefined) continue;
      edits.push({ start: statement.start, end: declaration.start, text: "" });
      edits.push({ ...declaration.id, text: `${name}$original` });
      appended = `\nexport function ${name}(...args) { return (${bug})(${name}$original)(...args); }\n`;
    } else if (declaration?.type === "VariableDeclaration" && method === undefined) {
      for (const { id, init } of declaration.declarations)
        if (id.type === "Identifier" && id.name === name && init !== null)
          edits.push({ ...init, text: `(${bug})(${source.slice(init.start, init.end)})` });
    } else if (declaration?.type === "ClassDeclaration" && declaration.id?.name === name) {
      const member = declaration.body.body.find(
        (one) => one.type === "MethodDefinition" && one.key.type === "Identifier" && one.key.name === method,
      );
      if (member?.type !== "MethodDefinition") continue;
      const owner = member.static ? name : `${name}.prototype`;
      const original = "(...given) => original.apply(this, given)";
      const patched = `function (...args) { return (${bug})(${original})(...args); }`;
      const text = `\n{ const original = ${owner}.${method}; ${owner}.${method} = ${patched}; }\n`;
      edits.push({ start: statement.end, end: statement.end, text });
    }
  }
  if (edits.length === 0) return null;
  const edited = edits
    .toReversed()
    .reduce((text, edit) => text.slice(0, edit.start) + edit.text + text.slice(edit.end), source);
  return edited + appended;
}
