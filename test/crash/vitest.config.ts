import { defineConfig } from "vitest/config";
import base from "../../vitest.config.ts";

const { projects: _, ...shared } = base.test ?? {};

/** The crash and fault matrix in full, and other long series, which take hours: `npm run test:crash`. No other run includes them. */
export default defineConfig({ test: { ...shared, root: ".", include: ["test/**/*.deep.ts"] } });
