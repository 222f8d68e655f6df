import { access, constants, stat } from "node:fs/promises";
import { delimiter, join } from "node:path";

/** Why a program cannot be run, with the exit code that shells have for it: 127 for a missing program, 126 for one that cannot be executed. */
export interface ProgramRefusal {
  readonly exitCode: 126 | 127;
  readonly message: string;
}

/**
 * Returns why a program cannot be run, as a shell looks it up: in the folders of PATH, unless its name has a slash. Null if it can be run.
 *
 * @example await refuseProgram("pytst") // { exitCode: 127, message: "pytst is in no folder of PATH. …" }
 */
export async function refuseProgram(program: string): Promise<ProgramRefusal | null> {
  const isPath = program.includes("/");
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  const files = isPath ? [program] : folders.map((folder) => join(folder === "" ? "." : folder, program));
  const kinds = await Promise.all(files.map(kindOf));
  if (program !== "" && kinds.includes("program")) return null;
  const found = files[kinds.findIndex((kind) => kind !== "missing")];
  if (program !== "" && found !== undefined)
    return {
      exitCode: 126,
      message: `${found} cannot be executed: it is a folder, or you may not execute it. Name a program, or run chmod +x.`,
    };
  return {
    exitCode: 127,
    message: isPath
      ? `${program} does not exist. Name a program.`
      : `"${program}" is in no folder of PATH. Install it, or pass its path.`,
  };
}

async function kindOf(file: string): Promise<"program" | "other" | "missing"> {
  try {
    const isFile = (await stat(file)).isFile();
    await access(file, constants.X_OK);
    return isFile ? "program" : "other";
  } catch (error) {
    return Reflect.get(Object(error), "code") === "EACCES" ? "other" : "missing";
  }
}
