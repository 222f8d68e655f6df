import { fileURLToPath } from "node:url";

/** The command line's program, as `npm start` runs it. */
export const cli = fileURLToPath(new URL("../../.bundle/cli/main.cjs", import.meta.url));
