import { rm } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { installInto } from "./consumer.ts";
import { expectEveryExport, viemsOf } from "./every-export.ts";

const { devDependencies, peerDependencies } = manifest;
const oldest = /^>=(\d+\.\d+\.\d+) /.exec(peerDependencies.viem)?.[1] ?? "";
const tools = (["vitest", "typescript", "@types/node"] as const).map(
  (name) => `${name}@${devDependencies[name]}`,
);

test("a project with the oldest viem that the package accepts has one viem, and every export works with it", async () => {
  await using project = await installInto(...tools, `viem@${oldest}`);
  expect(await viemsOf(project)).toEqual([["node_modules/viem", { version: oldest }]]);
  await expectEveryExport(project);
});

test("without viem, the command line and createSandbox say in one sentence what to install", async () => {
  await using project = await installInto();
  await rm(join(project.folder, "node_modules", "viem"), { recursive: true });
  const message = "routing-sandbox needs the package viem, which is not installed. Run npm install viem@2.";
  const create = `import { createSandbox } from "routing-sandbox"; await createSandbox().catch((error) => console.log(error.message));`;
  expect((await project.run("node", "--input-type=module", "--eval", create)).trim()).toBe(message);
  const failed = await project.run("npx", "routing-sandbox", "doctor").catch((error: Error) => error.message);
  expect(failed).toContain("failed (1)");
  expect(failed.trim().split("\n").at(-1)).toBe(message);
});
