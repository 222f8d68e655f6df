import { spawnSync } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { z } from "zod";
import { temporaryFolder } from "../temporary-folder.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const reason = "// Long: one case for each kind of node.\n";

/** Runs the check on one file with this text. */
async function check(text: string): Promise<{ status: number | null; lines: string[] }> {
  const file = join(await temporaryFolder(), "module.ts");
  await writeFile(file, text);
  const { status, stderr } = spawnSync(process.execPath, ["scripts/lint/check-function-length.ts", file], {
    cwd: root,
    encoding: "utf8",
  });
  const lines = stderr.split("\n").filter((line) => line !== "");
  return { status, lines: lines.map((line) => line.replace(file, "module.ts")) };
}

/** A list of so many lines, which every line of a function is part of: a comment, an empty line, closing brackets, and code. */
function lines(count: number): string {
  const kinds = ["// Why.", "", "call({", "});"];
  return Array.from({ length: count }, (_, index) => `${kinds[index % kinds.length]}\n`).join("");
}

/** Every form of a function, with lines in it and two of its own. */
const forms = {
  function: (body: string) => `export async function f(): Promise<void> {\n${body}}\n`,
  arrow: (body: string) => `const f = async () => {\n${body}};\n`,
  "function expression": (body: string) => `const f = function () {\n${body}};\n`,
  generator: (body: string) => `function* f() {\n${body}}\n`,
  method: (body: string) => `class A { f<T>(): void {\n${body}} }\n`,
  constructor: (body: string) => `class A { constructor() {\n${body}} }\n`,
  getter: (body: string) => `const a = { get f() {\n${body}} };\n`,
  "method of an object": (body: string) => `const a = { async f() {\n${body}} };\n`,
  "test body": (body: string) => `test("does it", async () => {\n${body}});\n`,
  "test body in a describe": (body: string) =>
    `describe("a", () => { it("does it", () => {\n${body}}); });\n`,
};

test.for(Object.entries(forms))("60 lines of a %s pass, and 61 fail", async ([, form]) => {
  // Of 56 lines, each call is closed.
  expect(await check(form(`${lines(56)}call();\n\n`))).toEqual({ status: 0, lines: [] });
  expect(await check(form(`${lines(56)}call();\n\n\n`))).toEqual({
    status: 1,
    lines: [
      "module.ts:1: a function of 61 lines: split it, or write // Long: and the reason on the line above it.",
    ],
  });
});

test("the lines of the parameters count", async () => {
  const { lines: found } = await check(`function f(\n  one: string,\n): void {\n${lines(56)}\n\n}\n`);
  expect(found).toHaveLength(1);
});

test("a function in a function counts in both", async () => {
  const { lines: found } = await check(`function f() {\nconst g = () => {\n${lines(60)}};\n}\n`);
  expect(found.map((line) => line.split(": split")[0])).toEqual([
    "module.ts:1: a function of 64 lines",
    "module.ts:2: a function of 62 lines",
  ]);
});

test.for(["describe", "describe.skipIf(true)", "describe.each([1, 2])"])(
  "a callback of %s has no limit",
  async (describe) => {
    expect(await check(`${describe}("all", () => {\n${lines(100)}});\n`)).toEqual({ status: 0, lines: [] });
  },
);

test("a long function with its reason on the line above it passes, below its TSDoc too", async () => {
  const long = forms.function(lines(100));
  expect(await check(`${reason}${long}`)).toEqual({ status: 0, lines: [] });
  expect(await check(`/** Does it. */\n${reason}${long}`)).toEqual({ status: 0, lines: [] });
});

test("a comment without a reason, or with an empty line below it, excuses nothing", async () => {
  const long = forms.function(lines(100));
  for (const comment of ["// Long:\n", "// Long: \n", "// It is long.\n", `${reason}\n`, `const a = 1;\n`])
    expect((await check(`${comment}${long}`)).status, comment).toBe(1);
});

test("a reason that is above no long function fails", async () => {
  expect(await check(`\n${reason}${forms.function(lines(56))}`)).toEqual({
    status: 1,
    lines: ['module.ts:2: "Long:" is above no function of over 60 lines: delete it.'],
  });
});

test("a file that cannot be parsed fails", async () => {
  expect((await check("function f( {\n")).status).toBe(1);
});

test("npm run lint runs the check over every file of the repository", async () => {
  const file = await readFile(join(root, "package.json"), "utf8");
  const { scripts } = z.object({ scripts: z.object({ lint: z.string() }) }).parse(JSON.parse(file));
  expect(scripts.lint.split(" && ")).toContain("node scripts/lint/check-function-length.ts");
  const { status, stderr } = spawnSync(process.execPath, ["scripts/lint/check-function-length.ts"], {
    cwd: root,
    encoding: "utf8",
  });
  expect(stderr).toBe("");
  expect(status).toBe(0);
});
