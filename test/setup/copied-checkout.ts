import { cp, mkdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const PARTS = [
  "artifacts",
  "contracts",
  "hardhat.config.ts",
  "package-lock.json",
  "package.json",
  "protocol",
  "relayer",
  "sandbox",
  "testkit",
  "check-contract",
  "cli",
  "hardhat-plugin",
  "scripts",
  "server",
  "tsconfig.json",
];

/** The compiled contract tests, which are not copied, because a compilation may be running. */
const LEFT_OUT = /\/artifacts\/(build-info|contracts\/test)$/;

/** Makes a copy of this checkout in a folder, with its packages and artifacts but without a genesis, to be damaged at will. */
export async function copyCheckout(into: string): Promise<string> {
  const folder = join(into, "checkout");
  await mkdir(folder);
  const filter = (path: string) => !LEFT_OUT.test(path);
  for (const part of PARTS) await cp(join(ROOT, part), join(folder, part), { recursive: true, filter });
  await symlink(join(ROOT, "node_modules"), join(folder, "node_modules"));
  return folder;
}
