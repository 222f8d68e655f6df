import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    // Two cores: a third worker, each with an Anvil of its own, only makes all of them slower.
    maxWorkers: 2,
    testTimeout: 15_000,
    hookTimeout: 30_000,
    retry: 0,
    expect: { requireAssertions: true },
    passWithNoTests: false,
    allowOnly: false,
  },
});
