import { z } from "zod";
import { textLengths } from "../../server/api/limits.ts";
import { programIdSchema, programNameLength } from "../../server/api/schemas/primitives.ts";
import { programRoles } from "../chain/genesis/roles.ts";
import { SandboxError } from "../lib/errors/sandbox-error.ts";
import { showValue } from "../lib/errors/show-value.ts";

/** A program that the sandbox serves, or its id alone. */
export type ProgramOption =
  | string
  | {
      /** `prg_` and 1 to 40 lower-case letters, digits or underscores. */
      id: string;
      /** The display name; by default the id. */
      name?: string;
      /** The account that issues credentials for it; by default `acct_` and the rest of the program's id. */
      account?: string;
    };

/** A program with every default filled in. */
export const programSettingSchema = z.strictObject({
  id: programIdSchema,
  name: z.string().min(1).max(textLengths.name),
  account: z.string().regex(new RegExp(`^acct_[a-z0-9_]{1,${programNameLength}}$`)),
});

/** The parsed form of {@link programSettingSchema}. */
export type ProgramSetting = z.infer<typeof programSettingSchema>;

/** The most programs of a sandbox. */
const mostPrograms = 100;

/** The programs of a sandbox in a file. */
export const programsSchema = z.array(programSettingSchema).min(1).max(mostPrograms);

/** The programs of a sandbox by default. */
export const defaultPrograms: readonly ProgramSetting[] = resolvePrograms(programRoles.map(({ id }) => id));

/**
 * Fills in the defaults of programs and checks them.
 *
 * @throws SandboxError option_invalid for a malformed or duplicate id or account, and for no or too many programs.
 * @example resolvePrograms(["prg_demo", { id: "prg_books", name: "Book store" }])
 */
export function resolvePrograms(programs: readonly ProgramOption[]): ProgramSetting[] {
  const resolved = programs.map((program) => {
    const { id, name, account, ...others } = typeof program === "string" ? { id: program } : program;
    if (!programIdSchema.safeParse(id).success)
      throw new SandboxError(
        "option_invalid",
        `${showValue(id)} is no program id. Use an id such as prg_demo.`,
      );
    const known = programRoles.find((role) => role.id === id);
    const setting = {
      id,
      name: name ?? known?.name ?? id,
      account: account ?? String(id).replace(/^prg_/, "acct_"),
      ...others,
    };
    const { data } = programSettingSchema.safeParse(setting);
    if (data !== undefined) return data;
    throw new SandboxError(
      "option_invalid",
      `${JSON.stringify(setting)} is no program: its id is prg_ and 1 to ${programNameLength} lower-case letters, digits or underscores, its account acct_ and as many.`,
    );
  });
  for (const field of ["id", "account"] as const) {
    const values = resolved.map((program) => program[field]);
    const repeated = values.find((value, index) => values.indexOf(value) < index);
    if (repeated !== undefined)
      throw new SandboxError(
        "option_invalid",
        `Two programs have the ${field} ${repeated}; each needs its own.`,
      );
  }
  if (resolved.length === 0 || resolved.length > mostPrograms)
    throw new SandboxError(
      "option_invalid",
      `The option programs has ${resolved.length} programs. Pass 1 to ${mostPrograms}.`,
    );
  return resolved;
}
