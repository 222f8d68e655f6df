import { existsSync } from "node:fs";

/**
 * Finds a file that documentation is made of, such as `docs/api.md` or a picture in it.
 *
 * @param path - from the top of the checkout or of the installed package, with a slash first.
 * @returns null where it is not shipped.
 */
export function findShippedFile(path: string): URL | null {
  // A package has its documents next to dist/, which the sources are in.
  const places = ["../..", "../../.."].map((up) => new URL(`${up}${path}`, import.meta.url));
  return places.find((place) => existsSync(place)) ?? null;
}
