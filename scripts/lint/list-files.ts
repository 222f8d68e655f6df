import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";

/** Lists the files of the repository that match the patterns of Git, also those that are not committed yet. */
export function listFiles(...patterns: string[]): string[] {
  const list = ["ls-files", "--cached", "--others", "--exclude-standard", "--", ...patterns];
  // A file that is deleted and not committed yet is still listed.
  return execFileSync("git", list, { encoding: "utf8", maxBuffer: 2 ** 24 })
    .split("\n")
    .filter((file) => file !== "" && existsSync(file));
}
