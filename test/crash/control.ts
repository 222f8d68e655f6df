import type { Json } from "../../protocol/values/json.ts";
import type { SandboxDescription } from "../../sandbox/state/description.ts";

/** Asks a running sandbox's control API. */
export async function controlSandbox(
  { urls }: SandboxDescription,
  method: "GET" | "POST" | "DELETE",
  path: string,
  body?: Json,
): Promise<unknown> {
  const response = await fetch(new URL(path, urls.control), {
    method,
    headers: { "Content-Type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const answer: unknown = await response.json();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${JSON.stringify(answer)}`);
  return answer;
}

/** Has the chain make one block in every second, and none for a transaction. */
export async function mineBySeconds(description: SandboxDescription): Promise<void> {
  await controlSandbox(description, "POST", "/mining", { every: 1 });
}
