#!/usr/bin/env node
import { enableCompileCache } from "node:module";
import { join } from "node:path";
import { packageRoot } from "../sandbox/lib/package-root.ts";

// Before anything large is loaded: stripped and compiled sources are kept, which halves the time of the next start.
enableCompileCache(join(packageRoot(), "node_modules", ".cache", "routing-sandbox"));
const { runCommandLine } = await import("./command-line.ts");
await runCommandLine();
