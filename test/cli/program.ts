import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createSandbox, type Sandbox } from "../../sandbox/create-sandbox.ts";

/** The command line's program, as `npm start` runs it: for tests of signals, of the end of a process and of its environment. */
export const cli = fileURLToPath(new URL("../../.bundle/cli/main.cjs", import.meta.url));

/** Starts a sandbox in a data directory of its own, which commands find by `--data-dir`; `end` removes both. */
export async function startInFolder(): Promise<{
  sandbox: Sandbox;
  folder: string;
  end(): Promise<void>;
}> {
  const folder = await mkdtemp(join(tmpdir(), "routing-sandbox-"));
  const sandbox = await createSandbox({ dataDirectory: folder });
  const end = async () => {
    await sandbox.close();
    await rm(folder, { recursive: true });
  };
  return { sandbox, folder, end };
}
