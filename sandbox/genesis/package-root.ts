import { findPackageJSON } from "node:module";
import { dirname } from "node:path";

/**
 * The folder of the package that this file belongs to, with artifacts and the prepared genesis in it.
 *
 * @throws Error when the package has been taken apart.
 * @example
 * join(packageRoot(), "artifacts");
 */
export function packageRoot(): string {
  const file = findPackageJSON("..", import.meta.url);
  if (file === undefined) throw new Error("The package's own package.json is missing; install it again.");
  return dirname(file);
}
