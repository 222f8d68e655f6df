import { cp, mkdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { temporaryFolder } from "../temporary-folder.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const PARTS = [
  "artifacts",
  "cache",
  "contracts",
  "hardhat.config.ts",
  "package-lock.json",
  "package.json",
  "protocol",
  "sandbox",
  "scripts",
  "tsconfig.json",
];

/** A copy of this checkout, with its packages and artifacts but without a genesis, to be damaged at will. */
export async function copyCheckout(): Promise<string> {
  const folder = join(await temporaryFolder(), "checkout");
  await mkdir(folder);
  for (const part of PARTS) await cp(join(ROOT, part), join(folder, part), { recursive: true });
  await symlink(join(ROOT, "node_modules"), join(folder, "node_modules"));
  return folder;
}
