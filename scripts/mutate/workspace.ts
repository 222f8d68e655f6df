import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Mutant, plant } from "./mutant.ts";
import { runTests, type TestRun } from "./run-tests.ts";

export const root = fileURLToPath(new URL("../..", import.meta.url));

/** The files that are not copied, or are added in another way. */
const leftOut = new Set([".git", "cache", "coverage", "dist", "node_modules", ".sandbox"]);

/** A copy of the checkout in which bugs are planted; its packages are links to those of the checkout. */
export class Workspace {
  readonly #folder: string;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  /** Makes a copy below `cache/`, in place of an earlier one. */
  static make(name: string): Workspace {
    // A copy's own set-up would install packages through the links.
    execFileSync(process.execPath, [join(root, "scripts", "setup.mjs")], { stdio: "inherit" });
    const folder = join(root, "cache", "mutate", name);
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    for (const part of readdirSync(root))
      if (!leftOut.has(part)) cpSync(join(root, part), join(folder, part), { recursive: true });
    linkPackages(join(root, "node_modules"), join(folder, "node_modules"));
    return new Workspace(folder);
  }

  /** Runs the tests of the copy as it is. */
  async run(tests: readonly string[], options: { bail: boolean; only: string | null }): Promise<TestRun> {
    return await runTests(this.#folder, tests, options);
  }

  /** Plants a bug, runs its tests and takes the bug out again. */
  async try(mutant: Mutant): Promise<TestRun> {
    const file = join(this.#folder, mutant.file);
    const source = readFileSync(file, "utf8");
    writeFileSync(file, plant(source, mutant));
    try {
      return await this.run(mutant.tests, { bail: true, only: mutant.only });
    } finally {
      writeFileSync(file, source);
    }
  }
}

/** Links each package; what the set-up and caches keep next to them is the copy's own. */
function linkPackages(from: string, to: string): void {
  mkdirSync(to);
  for (const name of readdirSync(from))
    if (!/^\.(?!bin$)/.test(name)) symlinkSync(join(from, name), join(to, name));
  cpSync(join(from, ".set-up.json"), join(to, ".set-up.json"));
}
