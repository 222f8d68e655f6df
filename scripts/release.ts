/**
 * Writes release/: the package's tarball, its SHA-256 checksum in the form of sha256sum, and the notes of its version from CHANGELOG.md.
 *
 * Usage: npm run release
 */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { packageRoot } from "../sandbox/lib/package-root.ts";
import { packageVersion } from "../sandbox/lib/package-version.ts";

const root = packageRoot();
const release = join(root, "release");
const notes = notesOf(packageVersion());
rmSync(release, { recursive: true, force: true });
mkdirSync(release);
const packed = execFileSync("npm", ["pack", "--silent", "--pack-destination", release], {
  cwd: root,
  encoding: "utf8",
});
const tarball = packed.trim().split("\n").at(-1) ?? "";
const checksum = createHash("sha256")
  .update(readFileSync(join(release, tarball)))
  .digest("hex");
writeFileSync(join(release, `${tarball}.sha256`), `${checksum}  ${tarball}\n`);
writeFileSync(join(release, "NOTES.md"), notes);
console.log(`release/${tarball}\nsha256 ${checksum}`);

/** The section of a version in the changelog, without its heading. @throws Error for a version without one. */
function notesOf(wanted: string): string {
  const sections = readFileSync(join(root, "CHANGELOG.md"), "utf8").split(/^## /m);
  const section = sections.find((text) => text.startsWith(`${wanted} `));
  if (section === undefined) throw new Error(`CHANGELOG.md has no section ${wanted}. Write it first.`);
  return section.slice(section.indexOf("\n") + 1).trimStart();
}
