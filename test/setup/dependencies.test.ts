import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { z } from "zod";

const packageFile = z.object({
  dependencies: z.record(z.string(), z.string()),
  devDependencies: z.record(z.string(), z.string()),
});

test("docs/dependencies.md and CONTRIBUTING.md give each dependency, its exact version and a reason", async () => {
  const { dependencies, devDependencies } = packageFile.parse(
    JSON.parse(await readFile(new URL("../../package.json", import.meta.url), "utf8")),
  );
  const pages = ["docs/dependencies.md", "CONTRIBUTING.md"].map(
    (page) => new URL(`../../${page}`, import.meta.url),
  );
  const documents = await Promise.all(pages.map(async (page) => await readFile(page, "utf8")));
  const rows = [...documents.join("\n").matchAll(/^- `([^`]+)` (\d\S*): \S.*\.$/gm)].map(
    ([, name, version]) => [name, version],
  );
  expect(rows).toEqual([...Object.entries(dependencies), ...Object.entries(devDependencies)]);
  expect(rows.every(([, version]) => /^\d+\.\d+\.\d+(-[\w.-]+)?$/.test(version ?? ""))).toBe(true);
});

test("every package is pinned by its content, and only the named packages run a script", async () => {
  const read = async (name: string) =>
    JSON.parse(await readFile(new URL(`../../${name}`, import.meta.url), "utf8"));
  const lock = z.object({
    packages: z.record(
      z.string(),
      z.object({
        integrity: z.string().optional(),
        resolved: z.string().optional(),
        hasInstallScript: z.boolean().optional(),
      }),
    ),
  });
  const { packages } = lock.parse(await read("package-lock.json"));
  const { "": _root, ...installed } = packages;
  const entries = Object.entries(installed);
  expect(entries.length).toBeGreaterThan(500);
  const unpinned = entries.filter(([, { integrity }]) => !/^sha512-[\w+/]{86}==$/.test(integrity ?? ""));
  expect(unpinned).toEqual([]);
  expect(entries.filter(([, { resolved }]) => resolved !== undefined)).toEqual([]);
  const { allowScripts } = z
    .object({ allowScripts: z.record(z.string(), z.boolean()) })
    .parse(await read("package.json"));
  const running = entries.filter(([, { hasInstallScript }]) => hasInstallScript).map(([path]) => path);
  expect(running.toSorted()).toEqual(
    Object.keys(allowScripts)
      .map((name) => `node_modules/${name}`)
      .toSorted(),
  );
});
