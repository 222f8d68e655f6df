import { defineConfig } from "vitest/config";
import base from "../../vitest.config.ts";

const { projects: _, ...shared } = base.test ?? {};

/** The crash and fault matrix in full, which takes hours: `npm run test:crash`. No other run includes it. */
export default defineConfig({ test: { ...shared, root: ".", include: ["test/crash/**/*.deep.ts"] } });
