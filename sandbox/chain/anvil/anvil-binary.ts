import { createRequire } from "node:module";
import { z } from "zod";
import { AnvilError } from "./anvil-error.ts";

const require = createRequire(import.meta.url);
const packageFile = z.object({ version: z.string() });

/**
 * The version of Anvil that package.json pins, as in `1.7.1`.
 *
 * @example
 * anvilVersion(); // "1.7.1"
 */
export function anvilVersion(): string {
  return packageFile.parse(require("@foundry-rs/anvil/package.json")).version;
}

/**
 * The absolute path of Anvil's native binary; the package's own `anvil` command is a Node program in front of it that costs
 * another 70 ms.
 *
 * @throws AnvilError `binary_missing` when the package for this platform is not installed.
 * @example
 * anvilBinary(); // "…/node_modules/@foundry-rs/anvil-linux-amd64/bin/anvil"
 */
export function anvilBinary(): string {
  const arch = process.arch === "x64" ? "amd64" : process.arch;
  const name = `@foundry-rs/anvil-${process.platform}-${arch}`;
  try {
    return createRequire(require.resolve("@foundry-rs/anvil/package.json")).resolve(`${name}/bin/anvil`);
  } catch (cause) {
    throw new AnvilError(
      "binary_missing",
      `${name} is not installed. Remove node_modules and install again, with optional packages allowed in npm's settings.`,
      { cause },
    );
  }
}
