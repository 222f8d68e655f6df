import type { SandboxDescription } from "../../sandbox/options/description.ts";
import { askControl, type ControlMethod } from "../../sandbox/service/ask-control.ts";

/** Asks a running sandbox's control API, which must not refuse. */
export async function controlSandbox(
  { urls }: SandboxDescription,
  method: ControlMethod,
  path: string,
  body?: object,
): Promise<unknown> {
  const response = await askControl(urls.control, method, path, body);
  const answer: unknown = await response.json();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${JSON.stringify(answer)}`);
  return answer;
}

/** Has the chain make one block in every second, and none for a transaction. */
export async function mineBySeconds(description: SandboxDescription): Promise<void> {
  await controlSandbox(description, "POST", "/mining", { every: 1 });
}
