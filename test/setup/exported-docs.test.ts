import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import {
  API,
  type Symbol as Declared,
  SignatureKind,
  SymbolFlags,
  type Type,
} from "typescript/unstable/sync";
import { afterAll, expect, test } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));
const api = new API({ cwd: root });
afterAll(() => api.close());

const [project] = api.updateSnapshot({ openProjects: [`${root}tsconfig.json`] }).getProjects();
if (project === undefined) throw new Error("tsconfig.json has no project.");
const { checker, program } = project;

/** An exported function, or a method of an exported class or interface. */
interface ExportedFunction {
  name: string;
  symbol: Declared;
  /** The class or interface of a method. */
  owner?: Declared;
}

/** Returns the modules that `exports` of package.json names. */
function exportedModules(): string[] {
  const manifest: { exports: { [path: string]: string } } = JSON.parse(
    readFileSync(`${root}package.json`, "utf8"),
  );
  return Object.values(manifest.exports).flatMap((file) => {
    const module = /^\.\/dist\/(.*)\.js$/.exec(file)?.[1];
    return module === undefined ? [] : [`${root}${module}.ts`];
  });
}

function isOwn({ declarations: [first] }: Declared): boolean {
  return first !== undefined && !/\/node_modules\/|\.generated\.ts$/.test(first.path);
}

function isFunction(symbol: Declared): boolean {
  const type = checker.getTypeOfSymbol(symbol);
  return type !== undefined && checker.getSignaturesOfType(type, SignatureKind.Call).length > 0;
}

function methodsOf(type: Type, owner: Declared): ExportedFunction[] {
  return checker
    .getPropertiesOfType(type)
    .filter((member) => isOwn(member) && !member.name.startsWith("__") && isFunction(member))
    .map((symbol) => ({ name: `${owner.name}.${symbol.name}`, symbol, owner }));
}

function functionsOf(module: string): ExportedFunction[] {
  const file = program.getSourceFile(module);
  const symbol = file === undefined ? undefined : checker.getSymbolAtLocation(file);
  if (symbol === undefined) throw new Error(`${module} is not a module of tsconfig.json.`);
  return checker.getExportsOfModule(symbol).flatMap((exported): ExportedFunction[] => {
    const target = exported.flags & SymbolFlags.Alias ? checker.getAliasedSymbol(exported) : exported;
    if (!isOwn(target)) return [];
    if (target.flags & (SymbolFlags.Class | SymbolFlags.Interface))
      return methodsOf(checker.getDeclaredTypeOfSymbol(target), target);
    return target.flags & SymbolFlags.Value && isFunction(target)
      ? [{ name: exported.name, symbol: target }]
      : [];
  });
}

function hasTag(symbol: Declared | undefined, name: string): boolean {
  return symbol?.getJsDocTags(checker).some((tag) => tag.name === name) ?? false;
}

const functions = exportedModules()
  .flatMap(functionsOf)
  .filter(({ symbol }) => !hasTag(symbol, "internal"));

test("every exported function and method has a description", () => {
  expect(functions.length).toBeGreaterThan(100);
  const undescribed = functions.filter(({ symbol }) => symbol.getDocumentationComment(checker) === "");
  expect(undescribed.map(({ name }) => name)).toEqual([]);
});

test("every exported function and method has an example, of its own or of its class or interface", () => {
  const without = functions.filter(
    ({ symbol, owner }) => !hasTag(symbol, "example") && !hasTag(owner, "example"),
  );
  expect(without.map(({ name }) => name)).toEqual([]);
});
