import type { Document } from "yaml";
import { describeFileError } from "../../server/lib/describe-file-error.ts";
import { countValues, readInput } from "../../server/lib/file-kind.ts";
import { replaceNamedFile } from "../../server/lib/replace-file.ts";
import { describeYamlError } from "../lib/errors/describe-yaml-error.ts";
import { SandboxError } from "../lib/errors/sandbox-error.ts";
import type { Scenario } from "./scenario.ts";

/** The longest scenario file, in bytes: a step takes about a thousand. */
export const mostScenarioBytes = 2 ** 20;
/** The most values of a scenario file: one that was recorded has about one for 50 bytes. */
export const mostScenarioValues = 100_000;
/** The most values that the aliases of a scenario file stand for together. */
const mostAliased = 100;

/**
 * Reads a scenario file.
 *
 * @throws SandboxError scenario_refused with the line or the field that is wrong.
 * @example await playScenario(await readScenario("checkout.yaml"))
 */
export async function readScenario(file: string): Promise<Scenario> {
  const refused = (reason: string, cause?: unknown) =>
    new SandboxError("scenario_refused", `${file} ${reason}`, { cause });
  const bytes = await readInput(file, {
    bytes: mostScenarioBytes,
    values: mostScenarioValues,
  }).catch((cause: unknown) => {
    throw refused(`cannot be read: ${describeFileError(cause)}. Name a scenario file.`, cause);
  });
  const { isNode, LineCounter, parseDocument, visit } = await import("yaml");
  const { check } = await import("../../server/http/request/validate.ts");
  const { scenarioSchema } = await import("./scenario.ts");
  const lineCounter = new LineCounter();
  // The library compares each key with all others of its map, which takes minutes for a long one.
  const document = parseDocument(bytes.toString(), { uniqueKeys: false, prettyErrors: false, lineCounter });
  const [broken] = document.errors;
  if (broken !== undefined)
    throw refused(`is not YAML: ${describeYamlError(broken, lineCounter)}. Correct that line.`, broken);
  visit(document, {
    Map(_key, map) {
      const keys = new Set<string>();
      for (const { key } of map.items) {
        const name = String(key);
        if (!keys.has(name)) keys.add(name);
        else {
          const { line, col } = lineCounter.linePos(isNode(key) ? (key.range?.[0] ?? 0) : 0);
          throw refused(
            `is not YAML: a map has a key twice at line ${line}, column ${col}. Correct that line.`,
          );
        }
      }
    },
  });
  const { data, errors } = check(scenarioSchema, readValue(document, refused), "");
  if (errors === null) return data;
  const [first] = errors;
  const remedy = first?.pointer ? "Correct that field." : "Name a scenario file.";
  throw refused(`is not a scenario: ${first?.pointer || "it"} ${first?.detail}. ${remedy}`);
}

/** Returns the value of a document, whose aliases may not make it much longer than its text. */
function readValue(document: Document, refused: (reason: string, cause: unknown) => SandboxError): unknown {
  try {
    const value: unknown = document.toJS({ maxAliasCount: mostAliased });
    // Fails for a value that is in itself.
    JSON.stringify(value);
    return value;
  } catch (cause) {
    throw refused(
      `has aliases (*name) that have no anchor (&name), are a part of it, or stand for more than ${mostAliased} values. Write the values out.`,
      cause,
    );
  }
}

/**
 * Writes a scenario file. It replaces an existing file, which stays unchanged if the new one cannot be written.
 *
 * @throws SandboxError scenario_refused when the file cannot be written, or would be too long to be read.
 * @example await writeScenario("refund.yaml", await sandbox.stopRecording())
 */
export async function writeScenario(file: string, scenario: Scenario): Promise<void> {
  const title = scenario.title.replaceAll(/\s+/g, " ");
  const comment = ` ${title}. Play it: routing-sandbox scenario play <this file>`;
  const { stringify } = await import("yaml");
  const text = stringify(scenario, { lineWidth: 0, aliasDuplicateObjects: false });
  const content = Buffer.from(`#${comment}\n${text}`);
  if (content.length > mostScenarioBytes)
    throw new SandboxError(
      "scenario_refused",
      `The scenario has ${Math.ceil(content.length / 2 ** 20)} MiB; a scenario file has at most ${mostScenarioBytes / 2 ** 20} MiB. Record fewer steps.`,
    );
  if (countValues(content) > mostScenarioValues)
    throw new SandboxError(
      "scenario_refused",
      `The scenario has more than ${mostScenarioValues} values, of which a scenario file has at most as many. Record fewer steps, or ones with fewer values.`,
    );
  await replaceNamedFile(file, content, 0o666).catch((cause: unknown) => {
    throw new SandboxError(
      "scenario_refused",
      `${file} cannot be written: ${describeFileError(cause)}. Name another file.`,
      { cause },
    );
  });
}
