import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { createSandbox } from "../../sandbox/create-sandbox.ts";
import { temporaryFolder } from "../temporary-folder.ts";

const path = (name: string) => fileURLToPath(new URL(`../../${name}`, import.meta.url));

test("the hook of docs/ci.md saves the state of a failed test only", async () => {
  const page = await readFile(path("docs/ci.md"), "utf8");
  const block = /```ts\n([^`]*?test\.afterEach[\s\S]*?)```/.exec(page)?.[1] ?? "";
  expect(block).toContain("sandbox.save(");
  const folder = await temporaryFolder();
  await writeFile(
    join(folder, "failed.test.ts"),
    `${block.replace("routing-sandbox/vitest", path("testkit/vitest.ts"))}
test("passes", async ({ sandbox }) => void (await sandbox.given.purchase({ state: "paid" })));
test("fails", async ({ sandbox }) => {
  await sandbox.given.purchase({ state: "created" });
  throw new Error("on purpose");
});`,
  );
  const child = spawn(path("node_modules/.bin/vitest"), ["run", "--root", folder], {
    cwd: folder,
    env: { ...process.env, NO_COLOR: "1" },
  });
  const [output] = await Promise.all([buffer(child.stdout), buffer(child.stderr), once(child, "close")]);
  expect(output.toString()).toMatch(/1 failed \| 1 passed/);
  const saved = (await readdir(folder)).filter((name) => name.endsWith(".snapshot"));
  expect(saved).toHaveLength(1);
  await using sandbox = await createSandbox({ from: join(folder, String(saved[0])) });
  const answer = await fetch(`${sandbox.description.urls.control}/explorer/purchases`);
  expect(await answer.json()).toMatchObject({ data: [{ status: "created" }] });
});
