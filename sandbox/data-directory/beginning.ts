import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { canonicalJson } from "../../protocol/values/canonical-json.ts";
import { damaged } from "../../server/store/directory/checked-lines.ts";
import { readDirectoryBegin } from "../../server/store/directory/directory-store.ts";
import { howToConvert } from "../../server/store/directory/store-snapshot.ts";
import { type RegistrarIdentity, registrarIdentity } from "../chain/registrar/registrar.ts";
import { chainRecord } from "../chain/start-chain.ts";
import { SandboxError } from "../lib/errors/sandbox-error.ts";
import { readJson } from "../lib/read-json.ts";
import { seedSchema } from "../options/defaults.ts";
import { defaultPrograms, type ProgramSetting, programsSchema } from "../options/programs.ts";
import { readOwn } from "./sandbox-file.ts";

/** The settings that options of the same names choose. */
interface ChosenSettings {
  seed: string;
  mode: "deterministic" | "live";
  programs: ProgramSetting[];
}

const shown: { readonly [O in keyof ChosenSettings]: (settings: ChosenSettings) => string } = {
  seed: ({ seed }) => `seed ${JSON.stringify(seed)}`,
  mode: ({ mode }) => `mode ${mode}`,
  programs: ({ programs }) =>
    `${programs.length === 1 ? "program" : "programs"} ${programs.map(name).join(", ")}`,
};

/**
 * Compares the settings that a sandbox was made with and those that options choose now.
 *
 * @returns both sides of the settings that differ, and the options to leave out; null if none differs.
 * @example differingSettings(kept, { ...kept, mode: "live" }) // { kept: "mode deterministic", wanted: "mode live", options: "the option mode" }
 */
export function differingSettings(
  kept: ChosenSettings,
  wanted: ChosenSettings,
): { kept: string; wanted: string; options: string } | null {
  const names = (["seed", "mode", "programs"] as const).filter(
    (name) => canonicalJson(kept[name]) !== canonicalJson(wanted[name]),
  );
  if (names.length === 0) return null;
  const list = (texts: readonly string[]) => texts.join(" and ");
  return {
    kept: list(names.map((name) => shown[name](kept))),
    wanted: list(names.map((name) => shown[name](wanted))),
    options: list(names.map((name) => `the option ${name}`)),
  };
}

function name({ id, name, account }: ProgramSetting): string {
  return `${id} (${name}, ${account})`;
}

/** The settings that a sandbox was made with; it cannot continue with any others. */
export const keptSettings = z.object({
  version: z.literal(1),
  seed: seedSchema,
  mode: z.enum(["deterministic", "live"]),
  programs: programsSchema.default([...defaultPrograms]),
  /** The registrar contract, unless it is the sandbox's own one. */
  registrar: registrarIdentity.optional(),
  /** Whether the records are in a database, and only the chain is here. */
  in_database: z.boolean().default(false),
  /** The epoch of the chain of the node that it is connected to; none on its own chain. */
  epoch: z.string().optional(),
  /** Tells these records from earlier ones about the chain of the same node; none on its own chain. */
  records_id: z.string().optional(),
});

/** The parsed form of {@link keptSettings}. */
export type KeptSettings = z.infer<typeof keptSettings>;

/** The first record of the journal of a data directory. */
export const beginning = z.object({
  settings: keptSettings,
  /** The chain and the SHA-256 of the state that it came from, in hex; null for a chain that is the node's. */
  chain: chainRecord.nullable(),
  state: z.string().nullable(),
});

/** The parsed form of {@link beginning}. */
export type Beginning = z.infer<typeof beginning>;

/** Returns the path of the journal in a data directory. */
export function journalIn(directory: string): string {
  return join(directory, "store");
}

/** Returns the path of the state that the chain of a journal came from. */
export function stateIn(journal: string): string {
  return join(journal, "chain.json");
}

/** Removes what a data directory of the first version has besides the store; files of the same names in another directory stay. */
export async function removeFirstVersion(directory: string): Promise<void> {
  if (!(await isFirstVersion(directory))) return;
  for (const name of ["chain", "settings.json", unfinished])
    await rm(join(directory, name), { recursive: true, force: true });
}

/** The name of the file that a first start of the first version has until it has ended. */
const unfinished = "unfinished";

async function isFirstVersion(directory: string): Promise<boolean> {
  const settings = readJson((await readOwn(join(directory, "settings.json"))) ?? "");
  return keptSettings.safeParse(settings).success;
}

/**
 * Reads what a data directory was made with.
 *
 * @returns null for a new directory.
 * @throws SandboxError data_directory_mismatch when it is of another version; StoreDamagedError.
 */
export async function readKeptSettings(directory: string): Promise<KeptSettings | null> {
  return (await readBeginning(directory))?.settings ?? null;
}

/** Reads what the journal of a data directory begins with; null when there is none. @throws as {@link readKeptSettings} */
export async function readBeginning(directory: string): Promise<Beginning | null> {
  const isFirst = await isFirstVersion(directory);
  // An unfinished first start of the first version left nothing to continue with.
  const isUnfinished = isFirst && existsSync(join(directory, unfinished));
  const begin = await readDirectoryBegin(journalIn(directory)).catch((error: unknown) => {
    if (!isUnfinished) throw error;
  });
  if (begin !== undefined) return parseBeginning(directory, begin);
  if (isFirst && !isUnfinished)
    throw new SandboxError(
      "data_directory_mismatch",
      `${directory} was made by an earlier version, which kept chain and settings in other files. ${howToConvert}`,
    );
  return null;
}

/** Parses what a journal begins with. @throws StoreDamagedError */
export function parseBeginning(directory: string, begin: unknown): Beginning {
  const { data, error } = beginning.safeParse(begin);
  if (data !== undefined) return data;
  const [issue] = error.issues;
  const file = join(journalIn(directory), "store.json");
  throw damaged(
    file,
    { number: 1, start: 0 },
    `its field ${["begin", ...(issue?.path ?? [])].join(".")} is not as it was written`,
    error,
  );
}

/**
 * Makes sure that a kept sandbox is resumed with the settings that it was made with.
 *
 * @throws SandboxError data_directory_mismatch
 */
export async function requireSettings(directory: string, wanted: KeptSettings): Promise<void> {
  const kept = await readKeptSettings(directory);
  if (kept !== null) requireStore(directory, kept, wanted.in_database);
  if (kept !== null && kept.epoch !== wanted.epoch)
    throw new SandboxError(
      "data_directory_mismatch",
      `${directory} has the records of ${kept.epoch === undefined ? "a chain of its own" : `the chain with epoch ${kept.epoch}`}, not of ${wanted.epoch === undefined ? "one" : `the chain with epoch ${wanted.epoch}`}. Choose another directory with the option dataDirectory.`,
    );
  if (kept !== null && kept.registrar?.digest !== wanted.registrar?.digest)
    throw new SandboxError(
      "data_directory_mismatch",
      `${directory} was made with ${describeRegistrar(kept.registrar)}, not with ${describeRegistrar(wanted.registrar)}. Leave out the option contracts.registrar to continue with it, delete it with the option fresh, or choose another directory with the option dataDirectory.`,
    );
  if (kept === null) return;
  // The seed of a node's chain is a secret.
  if (kept.epoch !== undefined && kept.seed !== wanted.seed)
    throw new SandboxError(
      "data_directory_mismatch",
      `${directory} was made with another seed than the option network.keys names. Name the file that it was made with, or choose another directory with the option dataDirectory.`,
    );
  const differing = differingSettings(kept, wanted);
  if (differing !== null)
    throw new SandboxError(
      "data_directory_mismatch",
      `${directory} was made with ${differing.kept}, not with ${differing.wanted}. Leave out ${differing.options} to continue with it, delete it with the option fresh, or choose another directory with the option dataDirectory.`,
    );
}

/**
 * Makes sure that a kept sandbox finds its records where they are.
 *
 * @param inDatabase - whether the option store is there.
 * @throws SandboxError data_directory_mismatch
 */
export function requireStore(directory: string, kept: KeptSettings, inDatabase: boolean): void {
  if (kept.in_database === inDatabase) return;
  throw new SandboxError(
    "data_directory_mismatch",
    inDatabase
      ? `${directory} has its records in files, not in a database. Leave out the option store to continue with it, or choose another directory with the option dataDirectory.`
      : `${directory} keeps its records in a database, and the option store is missing. Name that database with the option store, or choose another directory with the option dataDirectory.`,
  );
}

/** Returns what the settings keep of a registrar contract. */
export function keptRegistrar({
  registrar,
}: {
  registrar: RegistrarIdentity | null;
}): Pick<KeptSettings, "registrar"> {
  return registrar === null ? {} : { registrar: { name: registrar.name, digest: registrar.digest } };
}

/** Names a registrar contract so that two builds of one contract differ. */
export function describeRegistrar(registrar: RegistrarIdentity | undefined): string {
  if (registrar === undefined) return "the sandbox's own registrar contract";
  return `the registrar contract ${registrar.name} (build ${registrar.digest.slice(0, 12)})`;
}
