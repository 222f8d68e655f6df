import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { packageVersion } from "../../sandbox/lib/package-version.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const named = /routing-sandbox-(\d+\.\d+\.\d+)\.tgz|"routing-sandbox": "\^(\d+\.\d+\.\d+)"/g;

test("every page and example that names the package's file or its version names the current one, and the changelog has a section of it", () => {
  const patterns = [
    "*.md",
    "action.yml",
    "docs/*.md",
    "examples/*/*.json",
    "examples/**/{README.md,Dockerfile}",
  ];
  const files = globSync(patterns, { cwd: root, exclude: ["**/node_modules/**"] });
  const versions = files.flatMap((file) =>
    [...readFileSync(join(root, file), "utf8").matchAll(named)].map(([, ofFile, ofRange]) => ({
      file,
      version: ofFile ?? ofRange,
    })),
  );
  expect(versions.length).toBeGreaterThan(10);
  const version = packageVersion();
  expect(versions.filter((one) => one.version !== version)).toEqual([]);
  expect(readFileSync(join(root, "CHANGELOG.md"), "utf8")).toContain(`\n## ${version} – `);
});
