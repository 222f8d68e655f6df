import { spawnSync } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { z } from "zod";
import { names, starts, words } from "../../scripts/lint/words.ts";
import { temporaryFolder } from "../temporary-folder.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** Runs the check on one file with this text. */
async function check(text: string, name = "page.md"): Promise<{ status: number | null; lines: string[] }> {
  const file = join(await temporaryFolder(), name);
  await writeFile(file, text);
  const { status, stderr } = spawnSync(process.execPath, ["scripts/lint/check-words.ts", file], {
    cwd: root,
    encoding: "utf8",
  });
  const lines = stderr.split("\n").filter((line) => line !== "");
  return { status, lines: lines.map((line) => line.replace(file, name)) };
}

test("each form of each listed word fails the check, with file, line and what to write instead", async () => {
  const forms = words.flatMap(({ forms, instead }) => forms.map((form) => ({ form, instead })));
  const { status, lines } = await check(forms.map(({ form }) => `it ${form} it\n`).join(""));
  expect(status).toBe(1);
  for (const [index, { form, instead }] of forms.entries())
    expect(lines).toContain(`page.md:${index + 1}: "${form}": write ${instead}.`);
});

test("a form is found at the start of a sentence and across two lines of a comment", async () => {
  const { status, lines } = await check(`/**\n * ${"A"}new. The clock ${"goes"}\n * on.\n */\n`);
  expect(status).toBe(1);
  expect(lines.map((line) => line.split(": write")[0])).toEqual([
    'page.md:2: "Anew"',
    'page.md:2: "goes on"',
  ]);
});

test.each([
  ["a comment", "module.ts", (form: string) => `const a = 1; // ${form} is a.\n`],
  ["a comment above a declaration", "module.ts", (form: string) => `/** ${form} a must be. */\n`],
  ["a line of a comment", "module.ts", (form: string) => ` * ${form}\n * waits.\n`],
  ["a comment of a style sheet", "style.css", (form: string) => `/* ${form} the page has. */\n`],
  ["a comment of a shell script", "script.sh", (form: string) => `# ${form} failed.\n`],
  ["a second sentence", "module.ts", (form: string) => `// It waits. ${form} waits ends.\n`],
  ["a sentence after one in quotes", "page.md", (form: string) => `It says "no." ${form} follows counts.\n`],
  [
    "a sentence of a message",
    "module.ts",
    (form: string) => `throw new Error("${form} was sent is lost.");\n`,
  ],
  ["a paragraph", "page.md", (form: string) => `${form} is durable survives.\n`],
  ["an entry of a list", "page.md", (form: string) => `1. ${form} is durable survives.\n`],
  ["a bold entry of a list", "page.md", (form: string) => `- **${form} is durable** survives.\n`],
])("%s that starts with a listed word fails the check", async (_, name, write) => {
  for (const { forms, instead } of starts)
    for (const form of forms) {
      const { status, lines } = await check(write(form), name);
      expect(status).toBe(1);
      expect(lines).toEqual([`${name}:1: a sentence that starts with "${form}": write ${instead}.`]);
    }
});

test("a heading, a label, a cell of a table and a question pass, and so does a listed word within a sentence", async () => {
  const page =
    "Read this.\n\n## What is tested\n\n| Option | What it does |\n\nWhat is a sandbox? See what follows.\n";
  expect(await check(page)).toEqual({ status: 0, lines: [] });
  const module = 'label("What happens"); // "What now?" It reads what was sent.\n';
  expect(await check(module, "module.ts")).toEqual({ status: 0, lines: [] });
});

test("the marks of a merge that was not resolved fail the check", async () => {
  const { status, lines } = await check(
    `one\n${"<".repeat(7)} HEAD\ntwo\n=======\nthree\n${">".repeat(7)} branch\n`,
  );
  expect(status).toBe(1);
  expect(lines).toEqual([2, 6].map((line) => `page.md:${line}: a merge mark: write what is to stay.`));
});

test("a quoted word, a name in code and a part of a longer word pass", async () => {
  const text = 'the word "whoever" or `nobody`, row.beside, noBody, mending-kit, calendar, renewed\n';
  expect(await check(text)).toEqual({ status: 0, lines: [] });
});

test("a word that is allowed before a certain word passes there, and fails elsewhere", async () => {
  const { lines } = await check(`an id ${"stands"} for\nit ${"stands"} forever\n`);
  expect(lines.map((line) => line.split(": write")[0])).toEqual(['page.md:2: "stands"']);
});

test("each listed word in an exported name fails the check, with file, line and what to write instead", async () => {
  const forms = names.flatMap(({ forms, instead }) => forms.map((form) => ({ form, instead })));
  const exported = forms.map(({ form }) => `the${form[0]?.toUpperCase()}${form.slice(1)}Of`);
  const { status, lines } = await check(
    exported.map((name) => `export const ${name} = 1;\n`).join(""),
    "module.ts",
  );
  expect(status).toBe(1);
  expect(lines).toEqual(
    forms.map(
      ({ instead }, index) => `module.ts:${index + 1}: the name ${exported[index]}: write ${instead}.`,
    ),
  );
});

test("the name of a contract is read too", async () => {
  const { lines } = await check("contract TestWorld {\n", "TestWorld.sol");
  expect(lines).toEqual(['TestWorld.sol:1: the name TestWorld: write "sandbox" or "step".']);
});

test("a name that is not exported passes, and so does a listed word inside of a longer one", async () => {
  const text = "const world = 1;\nexport const scaffold = 1;\nexport class Standard {}\n";
  expect(await check(text, "module.ts")).toEqual({ status: 0, lines: [] });
});

test("npm run lint runs the check over all sources and documents", async () => {
  const file = await readFile(join(root, "package.json"), "utf8");
  const { scripts } = z.object({ scripts: z.object({ lint: z.string() }) }).parse(JSON.parse(file));
  expect(scripts.lint).toContain(" && node scripts/lint/check-words.ts && ");
  const { status, stderr } = spawnSync(process.execPath, ["scripts/lint/check-words.ts"], {
    cwd: root,
    encoding: "utf8",
  });
  expect(stderr).toBe("");
  expect(status).toBe(0);
});
