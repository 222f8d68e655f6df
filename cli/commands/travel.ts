import type { Command } from "commander";
import { z } from "zod";
import { toTimestamp } from "../../protocol/values/time.ts";
import { callControl } from "../running/call-control.ts";
import { dataDirectoryOption, jsonOption, type SandboxFlags, seconds } from "../shared-options.ts";
import { newCommand, print, type Terminal } from "../terminal.ts";

const travelled = z.object({ now: z.int() });

/** `routing-sandbox travel 8d`: moves chain and API ahead together. */
export function travelCommand(terminal: Terminal): Command {
  return newCommand(terminal, "travel")
    .description("move the time of chain and API forward, for example by 8d, 36h, 90m, 30s or 1d12h")
    .argument("<duration>", "the duration", duration)
    .addOption(dataDirectoryOption())
    .addOption(jsonOption())
    .action(async (length: number, { dataDir, json }: SandboxFlags) => {
      const answer = travelled.parse(await callControl(dataDir, "POST", "/clock", { seconds: length }));
      print(terminal, { json }, answer, `It is ${toTimestamp(answer.now)} now.`);
    });
}

function duration(text: string): number {
  if (/^\d+$/.test(text))
    throw new Error(`duration "${text}" has no unit. Use ${text}s, ${text}m, ${text}h or ${text}d.`);
  const length = seconds(text);
  if (length === 0) throw new Error(`duration "${text}" is not above zero. Use a longer one, such as 8d.`);
  return length;
}
