import { keepCompiled } from "./lib/processes/keep-compiled.ts";

/** Loads the code that runs a sandbox. It is loaded with the first sandbox, so that an import of the package alone is fast. */
export async function loadRuntime() {
  keepCompiled();
  return await import("./create-sandbox.ts");
}
