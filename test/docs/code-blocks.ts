import { readdirSync, readFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { join } from "node:path";
import { packageRoot } from "../../sandbox/lib/package-root.ts";

/** A fenced block of a page in docs/. */
export interface CodeBlock {
  /** Page and heading, as in `tests.md: Call the API`. */
  place: string;
  language: string;
  code: string;
}

/** Returns the code blocks of docs/ without a file name; those with one are run by the test of their page. */
export function codeBlocks(): CodeBlock[] {
  const folder = join(packageRoot(), "docs");
  return readdirSync(folder)
    .filter((name) => name.endsWith(".md"))
    .flatMap((name) => {
      const text = readFileSync(join(folder, name), "utf8");
      return [...text.matchAll(/^```(\w+)\n(.*?)^```$/gms)].map(
        ({ index, 1: language = "", 2: code = "" }) => {
          const headings = [...text.slice(0, index).matchAll(/^#+ (.*)$/gm)];
          return { place: `${name}: ${headings.at(-1)?.[1]}`, language, code };
        },
      );
    });
}

const modules: { readonly [specifier: string]: string } = {
  "routing-sandbox/client": "../../sandbox/client/api-client.ts",
  "routing-sandbox/vitest": "../../testkit/vitest.ts",
  "routing-sandbox/playwright": "../../testkit/playwright/inject-wallet.ts",
  "routing-sandbox/fixture": "../../testkit/fixture.ts",
  "routing-sandbox/matchers": "../../testkit/matchers.ts",
  // The package tests compile it with jest.
  "@jest/globals": "vitest",
};

type AsyncFunctionConstructor = new (...parts: string[]) => (...values: unknown[]) => Promise<void>;

/** Runs a block with names in its scope, which are also what it imports from the package's main module. */
export async function runBlock(code: string, scope: object): Promise<void> {
  const javascript = stripTypeScriptTypes(code).replaceAll(
    /^import (\{[^}]*\}) from "([^"]+)";$/gm,
    (_, names: string, from: string) => `const ${names.replaceAll(" as ", ": ")} = await load("${from}");`,
  );
  const load = async (from: string) =>
    from === "routing-sandbox" ? scope : await import(modules[from] ?? from);
  const names = { ...scope, load };
  const AsyncFunction = (async () => {}).constructor as AsyncFunctionConstructor;
  await new AsyncFunction(...Object.keys(names), `{${javascript}\n}`)(...Object.values(names));
}
