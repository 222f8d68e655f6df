import { defineConfig } from "vitest/config";
import base from "./vitest.config.ts";

/** The crash and fault matrix in full: `npm run test:crash`. */
export default defineConfig({ ...base, test: { ...base.test, include: ["test/crash/**/*.deep.ts"] } });
