import type { Network } from "../chain/connection/network.ts";
import { SandboxError } from "../lib/errors/sandbox-error.ts";
import type { SandboxOptions } from "./options.ts";

/** Returns options with what a network determines. @throws SandboxError option_invalid for those that it does not go with. */
export function optionsOf(options: SandboxOptions, { keys, programs }: Network): SandboxOptions {
  const named = (["seed", "programs", "from", "contracts"] as const).find(
    (name) => options[name] !== undefined,
  );
  if (named === undefined && options.mode !== "deterministic")
    return { ...options, seed: keys.seed, mode: "live", programs };
  throw new SandboxError(
    "option_invalid",
    `The option ${named ?? "mode"} does not go with the option network, whose files determine it. Leave one of them out.`,
  );
}
