import { spawnSync } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { z } from "zod";
import { words } from "../../lint/words.ts";
import { temporaryFolder } from "../temporary-folder.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** Runs the check on one file with this text. */
async function check(text: string): Promise<{ status: number | null; lines: string[] }> {
  const file = join(await temporaryFolder(), "page.md");
  await writeFile(file, text);
  const { status, stderr } = spawnSync(process.execPath, ["lint/check-words.ts", file], {
    cwd: root,
    encoding: "utf8",
  });
  const lines = stderr.split("\n").filter((line) => line !== "");
  return { status, lines: lines.map((line) => line.replace(file, "page.md")) };
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

test("a quoted word, a name in code and a part of a longer word pass", async () => {
  const text = 'the word "whoever" or `nobody`, row.beside, noBody, mending-kit, calendar, renewed\n';
  expect(await check(text)).toEqual({ status: 0, lines: [] });
});

test("npm run lint runs the check over all sources and documents", async () => {
  const file = await readFile(join(root, "package.json"), "utf8");
  const { scripts } = z.object({ scripts: z.object({ lint: z.string() }) }).parse(JSON.parse(file));
  expect(scripts.lint).toBe("biome check . && node lint/check-words.ts");
  const { status, stderr } = spawnSync(process.execPath, ["lint/check-words.ts"], {
    cwd: root,
    encoding: "utf8",
  });
  expect(stderr).toBe("");
  expect(status).toBe(0);
});
