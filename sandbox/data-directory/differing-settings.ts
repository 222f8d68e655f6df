import { canonicalJson } from "../../protocol/values/canonical-json.ts";
import type { ProgramSetting } from "../options/programs.ts";

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
