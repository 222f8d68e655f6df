import { type Command, InvalidArgumentError, Option } from "commander";
import type { Exploration } from "../../testkit/explore/options.ts";
import { mostSteps, stepsByDefault } from "../../testkit/explore/options.ts";
import { jsonOption, wholeNumber } from "../shared-options.ts";
import { newCommand, print, type Terminal } from "../terminal.ts";

interface ExploreFlags {
  steps: number;
  seed: string;
  scenario?: string;
  json?: boolean;
}

/** `routing-sandbox explore`: random steps on a fresh sandbox of its own, compared with the documentation. */
export function exploreCommand(terminal: Terminal): Command {
  return newCommand(terminal, "explore")
    .description(
      "run random valid and invalid steps on a temporary sandbox, and compare the responses, records, chain and events with a model of the documented behavior",
    )
    .addOption(
      new Option("--steps <number>", "the number of steps")
        .argParser(wholeNumber(1, mostSteps))
        .default(stepsByDefault),
    )
    .addOption(
      new Option("--seed <text>", "determines the steps: equal seeds give equal steps")
        .default("sandbox")
        .argParser((seed) => {
          if (seed === "") throw new InvalidArgumentError("It is empty. Pass a text, or leave it out.");
          return seed;
        }),
    )
    .option("--scenario <file>", "the file to which the shortest failing sequence is written")
    .addOption(jsonOption())
    .action(async ({ steps, seed, scenario, json }: ExploreFlags) => {
      const { createExplorableSandbox: createSandbox } = await import(
        "../../testkit/explore/explorable-sandbox.ts"
      );
      await using sandbox = await createSandbox({ seed });
      const exploration = await sandbox.explore({
        steps,
        onProgress: (done, all) => showProgress(terminal, done, all),
        ...(scenario === undefined ? {} : { scenario }),
      });
      print(terminal, { json }, exploration, describe(exploration));
    });
}

/** One line that is written over while it is a terminal; a log gets none. */
function showProgress({ stderr }: Terminal, done: number, all: number): void {
  if (!stderr.isTTY) return;
  stderr.write(done === all ? "\r\u001b[K" : `\r\u001b[K${done} of ${all} steps`);
}

function describe({ steps, seed, counts, digest }: Exploration): string {
  const lines = Object.entries(counts).map(([kind, answers]) => {
    const list = Object.entries(answers).map(([answer, count]) => `${answer} (${count})`);
    return `  ${kind}: ${list.join(", ")}`;
  });
  return [...lines, `All ${steps} steps with the seed ${seed} are as documented: ${digest}`].join("\n");
}
