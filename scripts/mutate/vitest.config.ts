import { defineConfig } from "vitest/config";
import base from "../../vitest.config.ts";

/** For tests that start no program, which need none to be bundled. */
export default defineConfig({ ...base, test: { ...base.test, globalSetup: [] } });
