import { explainMissingViem } from "./lib/processes/explain-missing-viem.ts";
import { keepCompiled } from "./lib/processes/keep-compiled.ts";

/**
 * Loads the code that runs a sandbox. It is loaded with the first sandbox, so that an import of the package alone is fast.
 *
 * @throws Error when viem is not installed.
 */
export async function loadRuntime() {
  keepCompiled();
  try {
    return await import("./create-sandbox.ts");
  } catch (cause) {
    const reason = explainMissingViem(cause);
    throw reason === null ? cause : new Error(reason, { cause });
  }
}
