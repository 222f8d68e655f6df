import { readFile } from "node:fs/promises";
import { parseDocument, stringify } from "yaml";
import { z } from "zod";
import { SandboxError } from "../../lib/sandbox-error.ts";
import { type Scenario, scenarioSchema } from "./scenario.ts";

/**
 * Reads a scenario file.
 *
 * @throws SandboxError scenario_refused with the line or the field that is wrong.
 */
export async function readScenario(file: string): Promise<Scenario> {
  const refused = (reason: string, cause?: unknown) =>
    new SandboxError("scenario_refused", `${file} ${reason}`, { cause });
  const text = await readFile(file, "utf8").catch((cause: unknown) => {
    throw refused(`cannot be read: ${String(cause)}`, cause);
  });
  const document = parseDocument(text);
  const [broken] = document.errors;
  if (broken !== undefined) throw refused(`is no YAML: ${broken.message}`, broken);
  const { data, error } = scenarioSchema.safeParse(document.toJS());
  if (data === undefined)
    throw refused(`is no scenario that can be played:\n${z.prettifyError(error)}`, error);
  return data;
}

/** The text of a scenario file. */
export function writeScenario(scenario: Scenario): string {
  const title = scenario.title.replaceAll(/\s+/g, " ");
  const comment = ` ${title}. Play it: routing-sandbox scenario play <this file>`;
  return `#${comment}\n${stringify(scenario, { lineWidth: 0, aliasDuplicateObjects: false })}`;
}
