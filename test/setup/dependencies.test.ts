import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { z } from "zod";

const packageFile = z.object({
  dependencies: z.record(z.string(), z.string()),
  devDependencies: z.record(z.string(), z.string()),
});

test("docs/dependencies.md gives each dependency, its exact version and a reason", async () => {
  const { dependencies, devDependencies } = packageFile.parse(
    JSON.parse(await readFile(new URL("../../package.json", import.meta.url), "utf8")),
  );
  const document = await readFile(new URL("../../docs/dependencies.md", import.meta.url), "utf8");
  const rows = [...document.matchAll(/^\| `([^`]+)` \| (\S+) \| \S.*\. \|$/gm)].map(([, name, version]) => [
    name,
    version,
  ]);
  expect(rows).toEqual([...Object.entries(dependencies), ...Object.entries(devDependencies)]);
  expect(rows.every(([, version]) => /^\d+\.\d+\.\d+$/.test(version ?? ""))).toBe(true);
});
