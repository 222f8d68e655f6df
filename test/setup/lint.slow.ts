import { spawnSync } from "node:child_process";
import { cp, mkdir, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { temporaryFolder } from "../temporary-folder.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const BIOME = join(ROOT, "node_modules", ".bin", "biome");
const report = z.object({
  diagnostics: z.array(
    z.object({ category: z.string(), severity: z.string(), location: z.object({ path: z.string() }) }),
  ),
});

/** A file in a folder of this project. */
type Case = readonly [folder: string, source: string];

/** Lints files, each by itself but in one run, with this project's rules; returns the names of the rules that each breaks. */
async function lint(...cases: readonly Case[]): Promise<string[][]> {
  const root = await temporaryFolder();
  for (const part of ["biome.json", "scripts/lint", ".gitignore"])
    await cp(join(ROOT, part), join(root, part), { recursive: true });
  await symlink(join(ROOT, "node_modules"), join(root, "node_modules"));
  const paths = cases.map(([folder], index) => join(folder, `a${index}.ts`));
  for (const [index, path] of paths.entries()) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), cases[index]?.[1] ?? "");
  }
  const { stdout, status } = spawnSync(
    BIOME,
    ["lint", "--reporter=json", "--max-diagnostics=none", ...paths],
    { cwd: root, encoding: "utf8" },
  );
  const errors = report.parse(JSON.parse(stdout)).diagnostics.filter(({ severity }) => severity === "error");
  expect(status).toBe(errors.length === 0 ? 0 : 1);
  return paths.map((path) =>
    errors.filter(({ location }) => location.path === path).map(({ category }) => category),
  );
}

describe("imports run one way", () => {
  /** Whether an import is refused; both files are at any depth of their folders. */
  async function isRefused(importing: string, imported: string): Promise<boolean> {
    const root = await temporaryFolder();
    const file = `${importing}/one/two/a.ts`;
    await mkdir(join(root, dirname(file)), { recursive: true });
    await writeFile(
      join(root, file),
      `export type { B } from "${"../".repeat(file.split("/").length - 1)}${imported}";\n`,
    );
    const check = join(ROOT, "scripts", "lint", "check-imports.ts");
    const { status, stderr } = spawnSync(process.execPath, [check, file], { cwd: root, encoding: "utf8" });
    if (status !== 0) expect(stderr).toContain(`${file}: it must not import ${imported};`);
    return status !== 0;
  }

  test.for([
    ["protocol", "relayer/b.ts"],
    ["relayer", "server/b.ts"],
    ["server", "sandbox/b.ts"],
    ["sandbox/chain", "testkit/b.ts"],
    ["testkit", "check-contract/b.ts"],
    ["check-contract", "testkit/b.ts"],
    ["cli", "scripts/b.ts"],
    ["scripts", "portal/b.ts"],
    ["hardhat-plugin", "test/b.ts"],
    ["sandbox/lib", "sandbox/chain/b.ts"],
    ["sandbox/chain", "sandbox/options/b.ts"],
    ["sandbox/faults", "sandbox/wallets/b.ts"],
    ["sandbox/explorer", "sandbox/trace/b.ts"],
    ["server/store", "server/purchases/b.ts"],
    ["server/purchases", "server/refunds/b.ts"],
    ["sandbox/explorer", "sandbox/create-sandbox.ts"],
  ] as const)("%s imports nothing like %s", async ([importing, imported]) => {
    expect(await isRefused(importing, imported)).toBe(true);
  });

  test.for([
    ["relayer", "protocol/b.ts"],
    ["sandbox/lib", "server/chain/b.ts"],
    ["sandbox/chain", "protocol/index.ts"],
    ["sandbox/trace", "sandbox/explorer/b.ts"],
    ["server/refunds", "server/purchases/b.ts"],
    ["cli", "check-contract/b.ts"],
    ["portal", "sandbox/client/b.ts"],
    ["test", "scripts/b.ts"],
  ] as const)("%s may import %s", async ([importing, imported]) => {
    expect(await isRefused(importing, imported)).toBe(false);
  });
});

test("files that import only types of each other are a cycle", async () => {
  const cases = ["a1", "a0"].map(
    (other): Case => ["server/http", `import type { A } from "./${other}.ts";\nexport type B = A;\n`],
  );
  expect(await lint(...cases)).toEqual(cases.map(() => ["lint/suspicious/noImportCycles"]));
});

test("a type of this project is imported at the top of a file, where the rules on imports see it", async () => {
  const refused = [
    'export type A = import("../../sandbox/a.ts").B;\n',
    "export const a: Awaited<import('./b.ts').B> = 1;\n",
    'export type A = typeof import("./b.ts");\n',
  ];
  expect(await lint(...refused.map((source): Case => ["server/http", source]))).toEqual(
    refused.map(() => ["plugin"]),
  );
  expect(await lint(["testkit", 'export type A = typeof import("fast-check");\n'])).toEqual([[]]);
});

test("browser code imports only types from the rest", async () => {
  const refused = [
    'import { a } from "../../protocol/a.ts";\na();\n',
    'import { type A, b } from "../../server/a.ts";\nexport const c: A = b();\n',
    'import "../../sandbox/a.ts";\n',
    'export * from "../../protocol/a.ts";\n',
    'export { a } from "../../protocol/a.ts";\n',
    'await import("../../scripts/a.ts");\n',
    'export * from "../../testkit/a.ts";\n',
    'export * from "../../check-contract/a.ts";\n',
    'export * from "../../cli/a.ts";\n',
  ];
  expect(await lint(...refused.map((source): Case => ["portal/wallet", source]))).toEqual(
    refused.map(() => ["plugin"]),
  );
  const taken = [
    'import type { A } from "../../sandbox/client/api.generated.ts";\nexport type B = A;\n',
    'export type { A } from "../../protocol/a.ts";\n',
    'import { html } from "../vendor/lit-html/lit-html.js";\nhtml();\n',
  ];
  expect(await lint(...taken.map((source): Case => ["portal/wallet", source]))).toEqual(taken.map(() => []));
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

  test.for(["protocol", "relayer", "server"])("are kept out of %s", async (layer) => {
    const broken = await lint(...FORBIDDEN.map(([source]): Case => [layer, `${source}\n`]));
    for (const [index, [, rule]] of FORBIDDEN.entries()) expect(broken[index]).toContain(rule);
  });

  test("may be read in sandbox and scripts, the clock in sandbox only past fake timers, and times may be formatted everywhere", async () => {
    const all = "export const a = [Date.now(), new Date(), process.env, Math.random()];\n";
    const environment = "export const a = [process.env, Math.random()];\n";
    const time = "export const a = new Date(5_000).toISOString();\n";
    expect(await lint(["sandbox", environment], ["scripts", all], ["server", time])).toEqual([[], [], []]);
  });
});

test("any and non-null assertions are refused", async () => {
  expect(await lint(["server", "export const a = (b: any) => b!;\n"])).toEqual([
    ["lint/suspicious/noExplicitAny", "lint/style/noNonNullAssertion"],
  ]);
});
