import { spawnSync } from "node:child_process";
import { cp, mkdir, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { temporaryFolder } from "../temporary-folder.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const BIOME = join(ROOT, "node_modules", ".bin", "biome");
const report = z.object({ diagnostics: z.array(z.object({ category: z.string(), severity: z.string() })) });

/** Lints one file with this project's rules and returns the names of the rules that it breaks. */
async function lint(path: string, source: string): Promise<string[]> {
  const folder = await temporaryFolder();
  for (const part of ["biome.json", "lint", ".gitignore"])
    await cp(join(ROOT, part), join(folder, part), { recursive: true });
  await symlink(join(ROOT, "node_modules"), join(folder, "node_modules"));
  await mkdir(dirname(join(folder, path)), { recursive: true });
  await writeFile(join(folder, path), source);
  const { stdout, status } = spawnSync(BIOME, ["lint", "--reporter=json", path], {
    cwd: folder,
    encoding: "utf8",
  });
  const errors = report.parse(JSON.parse(stdout)).diagnostics.filter(({ severity }) => severity === "error");
  expect(status).toBe(errors.length === 0 ? 0 : 1);
  return errors.map(({ category }) => category);
}

describe("imports run one way", () => {
  const IMPORTS = "lint/style/noRestrictedImports";

  test.for([
    ["protocol", ["relayer", "server", "sandbox", "scripts", "test"]],
    ["relayer", ["server", "sandbox", "scripts", "test"]],
    ["server", ["sandbox", "scripts", "test"]],
    ["sandbox", ["scripts", "test"]],
    ["scripts", ["test"]],
  ] as const)("%s imports nothing from what comes after it", async ([layer, forbidden]) => {
    for (const other of forbidden) {
      expect(await lint(`${layer}/a.ts`, `import { b } from "../${other}/b.ts";\nb();\n`)).toEqual([IMPORTS]);
      expect(await lint(`${layer}/deep/a.ts`, `export * from "../../${other}/deep/b.ts";\n`)).toContain(
        IMPORTS,
      );
      expect(await lint(`${layer}/a.ts`, `await import("../${other}/b.ts");\n`)).toEqual([IMPORTS]);
    }
  });

  test.for([
    ["relayer", "protocol"],
    ["server", "relayer"],
    ["sandbox", "server"],
    ["scripts", "sandbox"],
    ["test", "scripts"],
  ] as const)("%s may import from %s", async ([layer, other]) => {
    expect(await lint(`${layer}/a.ts`, `import { b } from "../${other}/b.ts";\nb();\n`)).toEqual([]);
  });
});

test("what the browser loads takes types from the rest, and nothing else", async () => {
  for (const source of [
    'import { a } from "../../protocol/a.ts";\na();\n',
    'import { type A, b } from "../../server/a.ts";\nexport const c: A = b();\n',
    'import "../../sandbox/a.ts";\n',
    'export * from "../../protocol/a.ts";\n',
    'export { a } from "../../protocol/a.ts";\n',
    'await import("../../scripts/a.ts");\n',
  ])
    expect(await lint("portal/wallet/a.ts", source)).toEqual(["plugin"]);
  for (const source of [
    'import type { A } from "../../sandbox/client/api.generated.ts";\nexport type B = A;\n',
    'export type { A } from "../../protocol/a.ts";\n',
    'import { html } from "../vendor/lit-html/lit-html.js";\nhtml();\n',
  ])
    expect(await lint("portal/wallet/a.ts", source)).toEqual([]);
});

describe("clock, environment and chance", () => {
  const FORBIDDEN = [
    ["export const a = Date.now();", "plugin"],
    ["export const a = new Date();", "plugin"],
    ["export const a = Math.random();", "plugin"],
    ["export const a = globalThis.Date;", "plugin"],
    ["export const a = performance.now();", "lint/style/noRestrictedGlobals"],
    ["export const a = process.env;", "lint/style/noRestrictedGlobals"],
    ["export const a = crypto.randomUUID();", "lint/style/noRestrictedGlobals"],
    ["setTimeout(() => {}, 5);", "lint/style/noRestrictedGlobals"],
    ["setInterval(() => {}, 5);", "lint/style/noRestrictedGlobals"],
    ['export { env } from "node:process";', "lint/style/noRestrictedImports"],
    ['export { randomBytes } from "node:crypto";', "lint/style/noRestrictedImports"],
    ['export { randomUUID } from "node:crypto";', "lint/style/noRestrictedImports"],
    ['export { setTimeout } from "node:timers/promises";', "lint/style/noRestrictedImports"],
    ['export { performance } from "node:perf_hooks";', "lint/style/noRestrictedImports"],
    ['export { generatePrivateKey } from "viem/accounts";', "lint/style/noRestrictedImports"],
  ] as const;

  test.for(["protocol", "relayer", "server"])("are kept out of %s", { timeout: 60_000 }, async (layer) => {
    for (const [source, rule] of FORBIDDEN)
      expect(await lint(`${layer}/a.ts`, `${source}\n`)).toContain(rule);
  });

  test("may be read in sandbox and scripts, and times may be formatted everywhere", async () => {
    for (const layer of ["sandbox", "scripts"]) {
      expect(
        await lint(
          `${layer}/a.ts`,
          "export const a = [Date.now(), new Date(), process.env, Math.random()];\n",
        ),
      ).toEqual([]);
    }
    expect(await lint("server/a.ts", "export const a = new Date(5_000).toISOString();\n")).toEqual([]);
  });
});

test("any and non-null assertions are refused", async () => {
  expect(await lint("server/a.ts", "export const a = (b: any) => b!;\n")).toEqual([
    "lint/suspicious/noExplicitAny",
    "lint/style/noNonNullAssertion",
  ]);
});
