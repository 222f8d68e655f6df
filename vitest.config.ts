import { fileURLToPath } from "node:url";
import { defineConfig, type TestProjectInlineConfiguration } from "vitest/config";

// The tests start programs: what those load is compiled once.
process.env["NODE_COMPILE_CACHE"] ??= fileURLToPath(new URL("node_modules/.cache/compiled", import.meta.url));

/** The tests whose file names end in this; `npm test` runs the first project, `npm run test:all` runs all of them. */
const project = (name: string, ending: string, test = {}): TestProjectInlineConfiguration => ({
  extends: true,
  test: { name, include: [`test/**/*.${ending}.ts`], ...test },
});

export default defineConfig({
  test: {
    projects: [
      // Needs npm packages only.
      project("fast", "test", { tagsFilter: ["!thorough"] }),
      // The rest of the cases of those rules of which the first project tests one.
      project("thorough", "test", { tagsFilter: ["thorough"] }),
      // Needs Chromium or Chrome.
      project("browser", "browser"),
      // Needs PostgreSQL's server.
      project("postgres", "postgres"),
      // Kills, full disks, random walks, programs in other languages.
      project("slow", "slow"),
      // The package, packed and installed as a user installs it.
      project("package", "package", {
        globalSetup: ["test/package/pack.ts"],
        testTimeout: 300_000,
        hookTimeout: 300_000,
      }),
    ],
    tags: [
      {
        name: "thorough",
        description:
          "Needs npm packages only, and is left out of npm test, which has another case of the rule.",
      },
    ],
    globalSetup: "test/bundle-programs.ts",
    // On two cores: while tests wait for what they started, two more workers have something to do.
    maxWorkers: 4,
    // Files share nothing but modules, and loading those again for each file takes a third of the whole.
    isolate: false,
    // For what hangs: how fast things are is measured by the benchmarks, against a floor, and never by a test.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    // Pages in a checkout are served through a function of Node that warns of itself. Most objects of a test live shortly: with more room for
    // them, the garbage collector copies fewer.
    execArgv: ["--disable-warning=ExperimentalWarning", "--max-semi-space-size=64"],
    retry: 0,
    expect: { requireAssertions: true, poll: { timeout: 150_000 } },
    passWithNoTests: false,
    allowOnly: false,
  },
});
