import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    // Two cores: a third worker, each with an Anvil of its own, only makes all of them slower.
    maxWorkers: 2,
    testTimeout: 15_000,
    hookTimeout: 30_000,
    // Pages in a checkout are served through a function of Node that warns of itself.
    execArgv: ["--disable-warning=ExperimentalWarning"],
    retry: 0,
    expect: { requireAssertions: true },
    passWithNoTests: false,
    allowOnly: false,
  },
});
