import { SandboxError } from "./sandbox-error.ts";

/**
 * Returns the refusal of what only the sandbox's own chain can do, on a connection to a node.
 *
 * @param what - the beginning of a sentence, as in "A snapshot".
 */
export function needsOwnChain(what: string): SandboxError {
  return new SandboxError(
    "needs_own_chain",
    `${what} needs the sandbox's own chain, and this sandbox is connected to a node. Use a sandbox without a node for it.`,
  );
}
