import { codeOf, messageOf } from "../../../protocol/coded-error.ts";

/**
 * Returns what to do if an import has failed because viem is not installed; null for any other error.
 *
 * npm installs peer dependencies such as viem by itself, but not with `--legacy-peer-deps`, and other package managers may not do so either.
 */
export function explainMissingViem(error: unknown): string | null {
  const isMissing = codeOf(error) === "ERR_MODULE_NOT_FOUND";
  if (!isMissing || !messageOf(error).includes("Cannot find package 'viem'")) return null;
  return "routing-sandbox needs the package viem, which is not installed. Run npm install viem@2.";
}
