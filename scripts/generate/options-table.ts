import { readFileSync } from "node:fs";
import { join } from "node:path";
import { flagOf } from "../../cli/flag-names.ts";
import { packageRoot } from "../../sandbox/lib/package-root.ts";
import { type OptionType, optionTypes } from "../../sandbox/options/check-types.ts";
import { markdownTable } from "../../server/documentation/tables.ts";
import { exploreTypes, largestOptions } from "../../testkit/explore/options.ts";

/** The documentation of an option: a comment, the name and the type. */
const documented = /\/\*\*((?:(?!\*\/).)*)\*\/\s+(\w+)\?: ([^\n]+);$/gms;

/**
 * Returns the table of all options of createSandbox: types and ranges from the check of the options, sentences and defaults from the doc
 * comments of `SandboxOptions`, flags from `routing-sandbox start`.
 *
 * @throws Error for an option without a comment or a default.
 */
export function optionsTable(): string {
  const documentedOf = readOptions("sandbox/options/options.ts", "SandboxOptions");
  const rows = Object.entries(optionTypes).map(([name, type]) => {
    const { what, value, written } = documentedOf(name);
    return [`\`${name}\``, flagsOf(name, type), typeOf(type, written), value, what];
  });
  return markdownTable(["Option", "`start`", "Type and unit", "Default", "What it does"], rows);
}

/**
 * Returns the table of all options of `sandbox.explore()`.
 *
 * @throws Error for an option without a comment or a default.
 */
export function exploreOptionsTable(): string {
  const documentedOf = readOptions("testkit/explore/options.ts", "ExploreOptions");
  const limits: { readonly [option: string]: number } = largestOptions;
  const rows = Object.entries(exploreTypes).map(([name, type]) => {
    const { what, value } = documentedOf(name);
    const limit = limits[name];
    return [`\`${name}\``, limit === undefined ? type : `whole number from 1 to ${limit}`, value, what];
  });
  return markdownTable(["Option", "Type", "Default", "What it does"], rows);
}

/** Reads the sentence, the default and the type of each option of an interface. */
function readOptions(file: string, name: string) {
  const source = readFileSync(join(packageRoot(), file), "utf8");
  const start = source.indexOf(`export interface ${name}`);
  const members = source.slice(start, source.indexOf("\n}\n", start));
  const comments = new Map(
    [...members.matchAll(documented)].map(([, comment = "", option = "", type = ""]) => [
      option,
      { text: comment.replace(/\s*\n\s*\* ?/g, " ").trim(), type },
    ]),
  );
  return (option: string) => {
    const { text = "", type: written = "" } = comments.get(option) ?? {};
    const [what = "", value] = text.split(/\s*@defaultValue\s+/);
    if (what === "" || value === undefined)
      throw new Error(`The option ${option} has no comment or no default.`);
    return { what, value, written };
  };
}

function flagsOf(option: string, type: OptionType): string {
  const flags = new Set(namesOf(option, type).flatMap((name) => flagOf(name) ?? []));
  return [...flags].map((flag) => `\`${flag}\``).join(", ");
}

/** The names of an option and of its fields. */
function namesOf(option: string, { fields = {} }: OptionType): string[] {
  const inner = Object.entries(fields).flatMap(([field, type]) => namesOf(`${option}.${field}`, type));
  return [option, ...inner];
}

function typeOf({ name, fields, entries }: OptionType, written: string): string {
  if (entries !== undefined) return `${name}; each entry is ${entries.name}`;
  if (written.includes("=>")) return `\`${written}\``;
  if (fields === undefined) return name;
  const types = [...new Set(Object.values(fields).map((field) => field.name))];
  const names = Object.keys(fields);
  return `\`{ ${names.join(", ")} }\`, ${names.length === 1 ? "" : "each "}${types.join(" or ")}`;
}
