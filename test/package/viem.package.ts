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

// The second one is the newest of today, which a project gets that installs viem first.
test.each([oldest, "2.57.20"])(
  "a project with viem %s has one viem, and every export works with it",
  async (version) => {
    await using project = await installInto(...tools, `viem@${version}`);
    expect(await viemsOf(project)).toEqual([["node_modules/viem", { version }]]);
    await expectEveryExport(project);
  },
);

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
