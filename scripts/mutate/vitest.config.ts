import { defineConfig } from "vitest/config";
import base from "../../vitest.config.ts";

const { projects: _, ...shared } = base.test ?? {};

/** The tests that may notice planted bugs, in one project: each project would load its own sources. */
export default defineConfig({ test: { ...shared, include: ["test/**/*.{test,slow}.ts"] } });
