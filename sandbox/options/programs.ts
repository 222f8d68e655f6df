import { z } from "zod";
import { orList } from "../../server/lib/wording.ts";
import { textLengths } from "../../server/limits.ts";
import { programIdSchema, programNameLength } from "../../server/schemas/primitives.ts";
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

/** An account besides those of the programs, or its id alone. */
export type AccountOption =
  | string
  | {
      /** `acct_` and 1 to 40 lower-case letters, digits or underscores. */
      id: string;
      /** The program that it issues credentials for; by default the first one. */
      program?: string;
    };

const accountIdSchema = z.string().regex(new RegExp(`^acct_[a-z0-9_]{1,${programNameLength}}$`));

/** A program with every default filled in. */
export const programSettingSchema = z.strictObject({
  id: programIdSchema,
  name: z.string().min(1).max(textLengths.name),
  account: accountIdSchema,
});

/** An account besides those of the programs, with its program. */
export const accountSettingSchema = z.strictObject({ id: accountIdSchema, program: programIdSchema });

/** The parsed form of {@link accountSettingSchema}. */
export type AccountSetting = z.infer<typeof accountSettingSchema>;

/** The parsed form of {@link programSettingSchema}. */
export type ProgramSetting = z.infer<typeof programSettingSchema>;

/** The most programs of a sandbox, and the most accounts besides theirs. */
const mostPrograms = 100;
const mostAccounts = 100;

/** The programs of a sandbox in a file. */
export const programsSchema = z.array(programSettingSchema).min(1).max(mostPrograms);

/** The accounts besides those of the programs in a file. */
export const accountsSchema = z.array(accountSettingSchema).max(mostAccounts);

/** The programs of a sandbox by default. */
export const defaultPrograms: readonly ProgramSetting[] = resolvePrograms(programRoles.map(({ id }) => id));

/**
 * Fills in the defaults of programs and checks them.
 *
 * @throws SandboxError option_invalid for a malformed or duplicate id or account, and for no or too many programs.
 */
export function resolvePrograms(programs: readonly ProgramOption[]): ProgramSetting[] {
  const resolved = programs.map((program) => {
    const { id, name, account, ...others } = typeof program === "string" ? { id: program } : program;
    if (!programIdSchema.safeParse(id).success)
      throw new SandboxError(
        "option_invalid",
        `The option programs has ${showValue(id)}, which is no program id. Use an id such as prg_demo.`,
      );
    const known = programRoles.find((role) => role.id === id);
    const setting = {
      id,
      name: name ?? known?.name ?? id,
      account: account ?? String(id).replace(/^prg_/, "acct_"),
      ...others,
    };
    const { data, error } = programSettingSchema.safeParse(setting);
    if (data !== undefined) return data;
    refuseUnknownField(error, `The program ${id}`, "id, name and account");
    if (error.issues[0]?.path[0] === "name")
      throw new SandboxError(
        "option_invalid",
        `The program ${id} has the name ${showValue(setting.name)}. Pass one of 1 to ${textLengths.name} characters, or leave it out.`,
      );
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

/**
 * Fills in the defaults of accounts and checks them.
 *
 * @param programs - those that are served, each with an account of its own.
 * @throws SandboxError option_invalid for a malformed or duplicate id, a program that is not served, and too many accounts.
 */
export function resolveAccounts(
  accounts: readonly AccountOption[],
  programs: readonly ProgramSetting[],
): AccountSetting[] {
  if (accounts.length > mostAccounts)
    throw new SandboxError(
      "option_invalid",
      `The option accounts has ${accounts.length} accounts. Pass at most ${mostAccounts}.`,
    );
  const taken = new Set(programs.map(({ account }) => account));
  return accounts.map((account) => {
    const asked = typeof account === "string" ? { id: account } : account;
    const setting = { program: programs[0]?.id, ...asked };
    const { data, error } = accountSettingSchema.safeParse(setting);
    refuseUnknownField(error, `The account ${showValue(setting.id)}`, "id and program");
    if (error?.issues.some(({ path }) => path[0] !== "program"))
      throw new SandboxError(
        "option_invalid",
        `${showValue(account)} is no account: its id is acct_ and 1 to ${programNameLength} lower-case letters, digits or underscores.`,
      );
    if (data === undefined || !programs.some(({ id }) => id === data.program))
      throw new SandboxError(
        "option_invalid",
        `The account ${setting.id} is for ${data?.program ?? showValue(setting.program)}, which is not served. Use ${orList(programs.map(({ id }) => id))}.`,
      );
    if (taken.has(data.id))
      throw new SandboxError("option_invalid", `Two accounts have the id ${data.id}; each needs its own.`);
    taken.add(data.id);
    return data;
  });
}

/** @throws SandboxError option_invalid when there is a field that no setting has. */
function refuseUnknownField(error: z.ZodError | undefined, what: string, known: string): void {
  for (const issue of error?.issues ?? [])
    if (issue.code === "unrecognized_keys")
      throw new SandboxError("option_invalid", `${what} has no field ${issue.keys[0]}. Pass ${known}.`);
}
