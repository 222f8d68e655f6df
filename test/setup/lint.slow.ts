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
  const IMPORTS = "lint/style/noRestrictedImports";

  test.for([
    [
      "protocol",
      [
        "relayer",
        "server",
        "sandbox",
        "testkit",
        "check-contract",
        "cli",
        "hardhat-plugin",
        "portal",
        "scripts",
        "test",
      ],
    ],
    [
      "relayer",
      [
        "server",
        "sandbox",
        "testkit",
        "check-contract",
        "cli",
        "hardhat-plugin",
        "portal",
        "scripts",
        "test",
      ],
    ],
    [
      "server",
      ["sandbox", "testkit", "check-contract", "cli", "hardhat-plugin", "portal", "scripts", "test"],
    ],
    ["sandbox", ["testkit", "check-contract", "cli", "hardhat-plugin", "portal", "scripts", "test"]],
    ["testkit", ["check-contract", "cli", "hardhat-plugin", "portal", "scripts", "test"]],
    ["check-contract", ["testkit", "cli", "hardhat-plugin", "portal", "scripts", "test"]],
    ["cli", ["hardhat-plugin", "portal", "scripts", "test"]],
    ["hardhat-plugin", ["portal", "scripts", "test"]],
    ["scripts", ["portal", "test"]],
  ] as const)("%s imports nothing from what comes after it", async ([layer, forbidden]) => {
    const cases = forbidden.flatMap((other): Case[] => [
      [layer, `import { b } from "../${other}/b.ts";\nb();\n`],
      [`${layer}/deep`, `export * from "../../${other}/deep/b.ts";\n`],
      [layer, `await import("../${other}/b.ts");\n`],
    ]);
    for (const [index, rules] of (await lint(...cases)).entries()) {
      if (index % 3 === 1) expect(rules).toContain(IMPORTS);
      else expect(rules).toEqual([IMPORTS]);
    }
  });

  test.for([
    ["relayer", "protocol"],
    ["server", "relayer"],
    ["sandbox", "server"],
    ["testkit", "sandbox"],
    ["check-contract", "sandbox"],
    ["cli", "testkit"],
    ["cli", "check-contract"],
    ["hardhat-plugin", "cli"],
    ["scripts", "cli"],
    ["test", "scripts"],
  ] as const)("%s may import from %s", async ([layer, other]) => {
    expect(await lint([layer, `import { b } from "../${other}/b.ts";\nb();\n`])).toEqual([[]]);
  });
});

describe("inside sandbox imports run one way, at every depth", () => {
  const order = ["lib", "chain", "options", "state", "service", "hosts"];
  const tops = ["create-sandbox", "open-tools", "restored-state", "index"];

  test.for(order.map((layer, index) => [layer, order.slice(index + 1)] as const))(
    "%s imports nothing from what comes after it",
    async ([layer, later]) => {
      const targets = [...later.map((other) => `${other}/b`), ...tops];
      const cases = ["", "/one", "/one/two", "/one/two/three", "/one/two/three/four/five"].flatMap((deep) =>
        targets.map(
          (target): Case => [
            `sandbox/${layer}${deep}`,
            `export type { B } from "${"../".repeat(deep.split("/").length)}${target}.ts";\n`,
          ],
        ),
      );
      expect(await lint(...cases)).toEqual(cases.map(() => ["lint/style/noRestrictedImports"]));
    },
  );

  test("what comes before may be imported", async () => {
    const cases = order.flatMap((layer, index) =>
      [
        ...order.slice(0, index).map((earlier) => `../../../${earlier}/b.ts`),
        "../../../../server/chain/b.ts",
        "../../../../protocol/index.ts",
      ].map((target): Case => [`sandbox/${layer}/one/two`, `export type { B } from "${target}";\n`]),
    );
    expect(await lint(...cases)).toEqual(cases.map(() => []));
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
    'import type { A } from "../../sandbox/service/client/api.generated.ts";\nexport type B = A;\n',
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
