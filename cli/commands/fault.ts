import { Argument, Command, InvalidArgumentError, Option } from "commander";
import { z } from "zod";
import { faultActions, faultPoints } from "../../relayer/faults/fault.ts";
import { relayOperationKinds } from "../../relayer/journal/relay-operation-kind.ts";
import { callControl } from "../call-control.ts";
import {
  dataDirectoryOption,
  jsonOption,
  programOption,
  type SandboxFlags,
  wholeNumber,
} from "../options.ts";
import { print } from "../print.ts";

const fault = z.looseObject({
  point: z.string(),
  action: z.string(),
  match: z.record(z.string(), z.string()),
  remaining: z.int().nullable(),
  hits: z.int(),
  depth: z.int(),
});
const list = z.object({ data: z.array(fault) });

const positive = wholeNumber(1, 999_999);

interface FaultFlags extends SandboxFlags {
  operation?: string;
  program?: string;
  kind?: string;
  subject?: string;
  count?: number | "always";
  depth?: number;
}

/** `routing-sandbox fault set broadcast drop`, `fault list`, `fault clear`: what shall go wrong in the relayer. */
export function faultCommand(): Command {
  return new Command("fault")
    .description("set and clear faults of the relayer")
    .addCommand(setCommand())
    .addCommand(listCommand())
    .addCommand(clearCommand());
}

function setCommand(): Command {
  return new Command("set")
    .description("set a fault. docs/faults.md lists the points of each action")
    .addArgument(new Argument("<point>", "the step at which the fault acts").choices(faultPoints))
    .addArgument(new Argument("<action>", "the fault's action").choices(faultActions))
    .option("--operation <id>", "only on this operation")
    .addOption(programOption("only on operations of this program"))
    .addOption(new Option("--kind <kind>", "only on operations of this kind").choices(relayOperationKinds))
    .option("--subject <id>", "only on operations of this purchase or refund")
    .option("--count <times>", "how many times it acts, or always; by default once", times)
    .option("--depth <blocks>", "how many blocks a reorg removes; by default 1", positive)
    .addOption(dataDirectoryOption())
    .addOption(jsonOption())
    .action(async (point: string, action: string, flags: FaultFlags) => {
      const { operation: operation_id, program, kind, subject: subject_id, count, depth } = flags;
      // What is not given is left out of the JSON.
      const match = { operation_id, program, kind, subject_id };
      const body = { point, action, match, count: count === "always" ? null : count, depth };
      const set = fault.parse(await callControl(flags.dataDir, "POST", "/faults", body));
      print(flags, set, describe(set));
    });
}

function listCommand(): Command {
  return new Command("list")
    .description("list the faults, including those that no longer act")
    .addOption(dataDirectoryOption())
    .addOption(jsonOption())
    .action(async (flags: SandboxFlags) => {
      const { data } = list.parse(await callControl(flags.dataDir, "GET", "/faults"));
      print(flags, { data }, data.map(describe).join("\n") || "No faults are set.");
    });
}

function clearCommand(): Command {
  return new Command("clear")
    .description("clear all faults and resume mining")
    .addOption(dataDirectoryOption())
    .addOption(jsonOption())
    .action(async (flags: SandboxFlags) => {
      const answer = list.parse(await callControl(flags.dataDir, "DELETE", "/faults"));
      print(flags, answer, "No faults are set any more.");
    });
}

function describe({ point, action, match, remaining, hits, depth }: z.output<typeof fault>): string {
  const who = Object.entries(match).map(([field, value]) => `${field} ${value}`);
  const left = remaining === null ? "until it is cleared" : `${remaining} more`;
  return [
    `${action} at ${point}`,
    ...(action === "reorg" ? [`${depth} deep`] : []),
    ...(who.length === 0 ? [] : [`for ${who.join(", ")}`]),
    `acted ${hits}, ${left}`,
  ].join("; ");
}

function times(text: string): number | "always" {
  if (text === "always") return text;
  try {
    return positive(text);
  } catch {
    throw new InvalidArgumentError("It must be always, or a whole number from 1 to 999999.");
  }
}
