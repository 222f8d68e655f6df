import { basename } from "node:path";
import type { Command } from "commander";
import { messageOf } from "../../protocol/coded-error.ts";
import { howToRun } from "../../sandbox/lib/package-root.ts";
import type { Scenario } from "../../sandbox/scenarios/scenario.ts";
import { redact } from "../../server/http/redact.ts";
import { escapeControls } from "../../server/lib/escape-controls.ts";
import type { JunitCase } from "../../server/lib/render-junit.ts";
import { callControl } from "../running/call-control.ts";
import { requireReportFile, writeReport } from "../running/write-report.ts";
import { dataDirectoryOption, jsonOption, optionWithDefault, type SandboxFlags } from "../shared-options.ts";
import { interruption, newCommand, print, type Terminal } from "../terminal.ts";

interface RecordFlags extends SandboxFlags {
  title?: string;
}

/** `routing-sandbox scenario record FILE`, `scenario play FILE`: what was done once, done again and compared to the last hash. */
export function scenarioCommand(terminal: Terminal): Command {
  return newCommand(terminal, "scenario")
    .description("record the steps of a sandbox, and play them with every response and hash compared")
    .addCommand(recordCommand(terminal))
    .addCommand(playCommand(terminal));
}

function recordCommand(terminal: Terminal): Command {
  return newCommand(terminal, "record")
    .description(
      "record the steps of the running sandbox until Ctrl-C; the sandbox must be fresh and in deterministic mode",
    )
    .argument("<file>", "the file to write; an existing file is replaced")
    .addOption(optionWithDefault("--title <text>", "the title", "the file's name"))
    .addOption(dataDirectoryOption())
    .addOption(jsonOption())
    .action(async (file: string, { dataDir, title = basename(file), json }: RecordFlags) => {
      const interrupted = interruption(terminal);
      await requireReportFile(file);
      await callControl(dataDir, "POST", "/scenario", { title });
      print(
        terminal,
        { json },
        { recording: true },
        "Recording. Ctrl-C ends the recording and writes the file.",
      );
      // A signal handler alone keeps no process alive.
      const alive = setInterval(() => {}, 60_000);
      await interrupted;
      clearInterval(alive);
      const { scenarioSchema } = await import("../../sandbox/scenarios/scenario.ts");
      const { writeScenario } = await import("../../sandbox/scenarios/scenario-file.ts");
      const scenario = scenarioSchema.parse(await callControl(dataDir, "DELETE", "/scenario"));
      await writeScenario(file, scenario);
      const steps = scenario.steps.length;
      print(
        terminal,
        { json },
        { file, steps },
        `Wrote ${steps} steps to ${file}. To play them: ${howToRun("scenario", "play", file)}`,
      );
    });
}

interface PlayFlags extends Pick<SandboxFlags, "json"> {
  junit?: string;
}

function playCommand(terminal: Terminal): Command {
  return newCommand(terminal, "play")
    .description("play scenarios, each on a fresh sandbox, and compare every response and hash")
    .argument("<files...>", "the scenario files")
    .addOption(jsonOption("print one JSON object for each file"))
    .option("--junit <file>", "write a report as JUnit XML, with a test case for each step")
    .action(async (files: string[], { json, junit }: PlayFlags) => {
      if (junit !== undefined) await requireReportFile(junit);
      const { renderJunit } = await import("../../server/lib/render-junit.ts");
      const suites: PlaySuite[] = [];
      try {
        for (const file of files) await playFile(terminal, file, { json }, suites);
      } finally {
        if (junit !== undefined) await writeReport(junit, renderJunit(suites));
      }
    });
}

type PlaySuite = ReturnType<typeof reportPlay>;

/** Plays a file, prints its steps, and adds its results to the suites of the report. */
async function playFile(
  terminal: Terminal,
  file: string,
  flags: { json?: boolean | undefined },
  suites: PlaySuite[],
) {
  const { playScenario } = await import("../../testkit/scenario/play-scenario.ts");
  const { readScenario } = await import("../../sandbox/scenarios/scenario-file.ts");
  const scenario = await readScenario(file);
  const { redact } = await import("../../server/http/redact.ts");
  const say = (line: string) => flags.json || terminal.stdout.write(`${redact(line)}\n`);
  say(escapeControls(scenario.title));
  const durations: number[] = [];
  let stepBegan = performance.now();
  const onStep = (number: number, { title }: { title: string }) => {
    durations.push(performance.now() - stepBegan);
    stepBegan = performance.now();
    say(`  ${String(number).padStart(3)}  ${escapeControls(title)}`);
  };
  try {
    await playScenario(scenario, { onStep });
  } catch (error) {
    suites.push(reportPlay({ scenario, durations, error }));
    throw error;
  }
  suites.push(reportPlay({ scenario, durations, error: null }));
  const steps = scenario.steps.length;
  const digest = scenario.end?.digest;
  const text =
    digest === undefined
      ? `As expected in all ${steps} steps`
      : `Equal in all ${steps} steps and at the end: ${digest}`;
  print(terminal, flags, { file, steps, ...(digest === undefined ? {} : { digest }) }, text);
}

/** The result of a scenario that was played. */
interface Play {
  scenario: Scenario;
  /** The time of each step that matched, in milliseconds. */
  durations: readonly number[];
  /** The error that ended the play; null if everything matched. */
  error: unknown;
}

/** Returns one case for each step of a scenario and one for its end, without credentials. The steps after the first difference are skipped. */
function reportPlay({ scenario, durations, error }: Play): { name: string; cases: JunitCase[] } {
  const { title, steps, end } = scenario;
  const group = redact(title);
  const names = steps.map((step, index) => `${index + 1}. ${step.title}`);
  if (end !== undefined || durations.length === steps.length) names.push("The end");
  const cases = names.map((name, index) => ({
    group,
    name: redact(name),
    failure: error !== null && index === durations.length ? redact(messageOf(error)) : null,
    duration_ms: Math.round(durations[index] ?? 0),
    skipped: error !== null && index > durations.length,
  }));
  return { name: group, cases };
}
