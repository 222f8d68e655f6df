import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { SandboxDescription } from "../description.ts";

/**
 * Finds the sandbox that runs in a data directory.
 *
 * @returns null when none answers.
 */
export async function findRunning(directory: string): Promise<SandboxDescription | null> {
  const text = await readFile(join(directory, "sandbox.json"), "utf8").catch(() => null);
  if (text === null) return null;
  const description: SandboxDescription = JSON.parse(text);
  const answer = await fetch(`${description.urls.control}/status`).catch(() => null);
  return answer?.ok ? description : null;
}
