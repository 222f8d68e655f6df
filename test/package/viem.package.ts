import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { z } from "zod";
import manifest from "../../package.json" with { type: "json" };
import { installInto } from "./consumer.ts";
import { expectEveryExport } from "./every-export.ts";

const { devDependencies, peerDependencies } = manifest;
const oldest = /^>=(\d+\.\d+\.\d+) /.exec(peerDependencies.viem)?.[1] ?? "";
const tools = (["vitest", "typescript", "@types/node"] as const).map(
  (name) => `${name}@${devDependencies[name]}`,
);
const lock = z.object({ packages: z.record(z.string(), z.object({ version: z.string().optional() })) });

test.for([
  { name: "the oldest viem that the package accepts", own: [`viem@${oldest}`], version: oldest },
  { name: "no viem of its own", own: [], version: expect.stringMatching(/^2\.(?!57\.20$)/) },
])("a project with $name has one viem, and every export works with it", async ({ own, version }) => {
  await using project = await installInto(...tools, ...own);
  const text = await readFile(join(project.folder, "node_modules", ".package-lock.json"), "utf8");
  const installed = Object.entries(lock.parse(JSON.parse(text)).packages).filter(([path]) =>
    path.endsWith("node_modules/viem"),
  );
  expect(installed).toEqual([["node_modules/viem", { version }]]);
  await expectEveryExport(project);
});

test("without viem, the command line and createSandbox say in one sentence what to install", async () => {
  await using project = await installInto("--legacy-peer-deps");
  const message = "routing-sandbox needs the package viem, which is not installed. Run npm install viem@2.";
  const create = `import { createSandbox } from "routing-sandbox"; await createSandbox().catch((error) => console.log(error.message));`;
  expect((await project.run("node", "--input-type=module", "--eval", create)).trim()).toBe(message);
  const failed = await project.run("npx", "routing-sandbox", "doctor").catch((error: Error) => error.message);
  expect(failed).toContain("failed (1)");
  expect(failed.trim().split("\n").at(-1)).toBe(message);
});
