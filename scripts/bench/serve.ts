import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { packageRoot } from "../../sandbox/lib/package-root.ts";
import type { SandboxDescription } from "../../sandbox/state/description.ts";
import { type ProcessGroup, startGroup } from "./process-group.ts";

/** Something that answers, in a process of its own. */
export interface Served extends AsyncDisposable {
  url: string;
}

/** A sandbox in a process of its own, as `npm start` runs it, store on disk included. */
export interface ServedSandbox extends AsyncDisposable {
  description: SandboxDescription;
  dataDirectory: string;
}

/**
 * Starts `routing-sandbox start` on free ports with a data directory that is removed in the end.
 *
 * @example await using sandbox = await serveSandbox("--mode", "deterministic");
 */
export async function serveSandbox(...options: string[]): Promise<ServedSandbox> {
  const folder = await mkdtemp(join(tmpdir(), "routing-sandbox-bench-"));
  const ports = ["api", "docs", "rpc", "control"].flatMap((name) => [`--${name}-port`, "0"]);
  const cli = join(packageRoot(), ".bundle", "cli", "main.cjs");
  const group = startGroup(process.execPath, [
    cli,
    "start",
    "--json",
    "--data-dir",
    folder,
    ...ports,
    ...options,
  ]);
  const [printed] = await group.printed(/^\{.*\}$/m);
  const description: SandboxDescription = JSON.parse(printed);
  return {
    description,
    dataDirectory: folder,
    async [Symbol.asyncDispose]() {
      await group[Symbol.asyncDispose]();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/**
 * Starts a bare Express that does only what a subject cannot do without; see `bare-express.ts`.
 *
 * @example await using floor = await serveExpress("bytes", { url: `${api}/v1/routing/capabilities`, headers: {} });
 */
export async function serveExpress(handler: string, options: unknown): Promise<Served> {
  const script = fileURLToPath(new URL("bare-express.ts", import.meta.url));
  return await listening(startGroup(process.execPath, [script, handler, JSON.stringify(options)]));
}

/** Starts Prism's mock server on our own description. */
export async function servePrism(): Promise<Served> {
  const prism = join(packageRoot(), "node_modules", ".bin", "prism");
  const description = join(packageRoot(), "docs", "openapi", "routing.json");
  return await listening(startGroup(process.execPath, [prism, "mock", "--port", "0", description]));
}

async function listening(group: ProcessGroup): Promise<Served> {
  const [, url = ""] = await group.printed(/listening on (http:\/\/[\d.:]+)/);
  return { url, [Symbol.asyncDispose]: async () => await group[Symbol.asyncDispose]() };
}
