import { readFile } from "node:fs/promises";
import { describeFileError } from "../../../server/lib/describe-file-error.ts";
import { replaceNamedFile } from "../../../server/lib/replace-file.ts";
import { SandboxError } from "../../lib/errors/sandbox-error.ts";
import type { Scenario } from "./scenario.ts";

/**
 * Reads a scenario file.
 *
 * @throws SandboxError scenario_refused with the line or the field that is wrong.
 * @example await playScenario(await readScenario("checkout.yaml"))
 */
export async function readScenario(file: string): Promise<Scenario> {
  const refused = (reason: string, cause?: unknown) =>
    new SandboxError("scenario_refused", `${file} ${reason}`, { cause });
  const text = await readFile(file, "utf8").catch((cause: unknown) => {
    throw refused(`cannot be read: ${describeFileError(cause)}. Name a scenario file.`, cause);
  });
  const { parseDocument } = await import("yaml");
  const { check } = await import("../../../server/http/request/validate.ts");
  const { scenarioSchema } = await import("./scenario.ts");
  const document = parseDocument(text);
  const [broken] = document.errors;
  if (broken !== undefined) {
    // The further lines of the message quote the file.
    const [reason = ""] = broken.message.split("\n");
    throw refused(`is not YAML: ${reason.replace(/:$/, "")}. Correct that line.`, broken);
  }
  const { data, errors } = check(scenarioSchema, document.toJS(), "");
  if (errors === null) return data;
  const [first] = errors;
  const remedy = first?.pointer ? "Correct that field." : "Name a scenario file.";
  throw refused(`is not a scenario: ${first?.pointer || "it"} ${first?.detail}. ${remedy}`);
}

/**
 * Writes a scenario file. It replaces an existing file, which stays unchanged if the new one cannot be written.
 *
 * @throws SandboxError scenario_refused when the file cannot be written.
 * @example await writeScenario("refund.yaml", await sandbox.stopRecording())
 */
export async function writeScenario(file: string, scenario: Scenario): Promise<void> {
  const title = scenario.title.replaceAll(/\s+/g, " ");
  const comment = ` ${title}. Play it: routing-sandbox scenario play <this file>`;
  const { stringify } = await import("yaml");
  const text = stringify(scenario, { lineWidth: 0, aliasDuplicateObjects: false });
  await replaceNamedFile(file, `#${comment}\n${text}`, 0o666).catch((cause: unknown) => {
    throw new SandboxError(
      "scenario_refused",
      `${file} cannot be written: ${describeFileError(cause)}. Name another file.`,
      { cause },
    );
  });
}
