import { Command, InvalidArgumentError } from "commander";
import { z } from "zod";
import { toTimestamp } from "../../protocol/values/time.ts";
import { type Duration, toSeconds } from "../../sandbox/chain/clock/duration.ts";
import { dataDirectoryOption, jsonOption, type SandboxFlags } from "../options.ts";
import { print } from "../print.ts";
import { callControl } from "../running/call-control.ts";

const travelled = z.object({ now: z.int() });

/** `routing-sandbox travel 8d`: moves chain and API ahead together. */
export function travelCommand(): Command {
  return new Command("travel")
    .description("move the time of chain and API forward, for example by 8d, 36h, 90m, 30s or 1d12h")
    .argument("<duration>", "the duration", duration)
    .addOption(dataDirectoryOption())
    .addOption(jsonOption())
    .action(async (seconds: number, { dataDir, json }: SandboxFlags) => {
      const answer = travelled.parse(await callControl(dataDir, "POST", "/clock", { seconds }));
      print({ json }, answer, `It is ${toTimestamp(answer.now)} now.`);
    });
}

function duration(text: string): number {
  if (/^\d+$/.test(text)) throw new Error(`duration "${text}" has no unit. Use ${text}d or ${text}h.`);
  const parts =
    /^(?:(?<days>\d{1,6})d)?(?:(?<hours>\d{1,6})h)?(?:(?<minutes>\d{1,6})m)?(?:(?<seconds>\d{1,9})s)?$/.exec(
      text,
    );
  const given = Object.entries(parts?.groups ?? {}).filter(([, value]) => value !== undefined);
  if (given.length === 0)
    throw new InvalidArgumentError("It must be a duration such as 8d, 36h, 90m, 30s or 1d12h.");
  const length: Duration = Object.fromEntries(given.map(([name, value]) => [name, Number(value)]));
  return toSeconds(length);
}
