import { defineConfig } from "vitest/config";
import base from "./vitest.config.ts";

/** The package, packed and installed as a user installs it: `npm run test:package`. */
export default defineConfig({
  ...base,
  test: {
    ...base.test,
    include: ["test/package/**/*.deep.ts"],
    globalSetup: ["test/package/pack.ts"],
    testTimeout: 300_000,
    hookTimeout: 300_000,
  },
});
