import { existsSync, readdirSync } from "node:fs";
import { delimiter, join } from "node:path";

/** The folder in which Debian and Ubuntu keep the programs of each version; only some of them are on the PATH. */
const versions = "/usr/lib/postgresql";

/**
 * Finds the folder with PostgreSQL's server programs: on the PATH, else Debian's newest version.
 *
 * @example findPostgres(process.env) // "/usr/lib/postgresql/15/bin"
 */
export function findPostgres({
  PATH: path = "",
}: {
  readonly [name: string]: string | undefined;
}): string | undefined {
  const onPath = path.split(delimiter).filter((folder) => folder !== "");
  const installed = existsSync(versions)
    ? readdirSync(versions)
        .sort((left, right) => Number(right) - Number(left))
        .map((version) => join(versions, version, "bin"))
    : [];
  return [...onPath, ...installed].find((folder) =>
    ["initdb", "postgres"].every((program) => existsSync(join(folder, program))),
  );
}
