import { Argument, type Command, InvalidArgumentError, Option } from "commander";
import { type Fault, faultSchema } from "../../sandbox/faults/fault.ts";
import {
  faultDefaults,
  faultIntentNames,
  faultLayers,
  placementsOf,
  pointsOf,
} from "../../sandbox/faults/fault-matrix.ts";
import { faultFlags } from "../../sandbox/faults/fault-request.ts";
import { clearFaults, listFaults } from "../../sandbox/faults/operations.ts";
import { orList } from "../../server/lib/wording.ts";
import { controlCommand } from "../control-command.ts";
import { flagOf } from "../describe-failure.ts";
import { ControlRefusedError, callControl } from "../running/call-control.ts";
import {
  dataDirectoryOption,
  flaggedOption,
  jsonOption,
  optionWithDefault,
  type SandboxFlags,
  valuesOf,
  wholeNumber,
} from "../shared-options.ts";
import { newCommand, print, type Terminal } from "../terminal.ts";

const defaultTimes = `${faultDefaults.count}; always for node-down`;
const positive = wholeNumber(1);
const every = (valuesOf: (layer: (typeof faultLayers)[number]) => string[]) => [
  ...new Set(faultLayers.flatMap(valuesOf)),
];

interface FaultFlags extends SandboxFlags {
  layer?: string;
  point?: string;
  action?: string;
  count?: number | "always";
}

/** `routing-sandbox fault set answer-lost --operation executeRefund`, `fault list`, `fault clear`: what shall go wrong. */
export function faultCommand(terminal: Terminal): Command {
  return newCommand(terminal, "fault")
    .description("set and clear faults of the API, the relayer, the node, the chain and deliveries")
    .addCommand(setCommand(terminal))
    .addCommand(
      controlCommand(
        terminal,
        listFaults,
        ({ data }) => data.map(describe).join("\n") || "No faults are set.",
      ),
    )
    .addCommand(controlCommand(terminal, clearFaults, () => "All faults are cleared."));
}

function setCommand(terminal: Terminal): Command {
  const command = newCommand(terminal, "set")
    .description(
      "set a fault by its name, or by --layer and --action; add --point if the action has several points; the page /docs/faults.md of the documentation host lists all faults",
    )
    .addArgument(new Argument("[name]", "the fault's name").choices(faultIntentNames))
    .addOption(
      new Option(
        "--layer <layer>",
        "the layer that the fault acts in; use it with --action instead of a name",
      ).choices(faultLayers),
    )
    .addOption(
      new Option("--action <action>", "what happens").choices(
        every((layer) => Object.keys(placementsOf(layer))),
      ),
    )
    .addOption(new Option("--point <point>", "where it happens").choices(every(pointsOf)))
    .addOption(
      optionWithDefault("--count <times>", "how many times the fault acts, or always", defaultTimes, times),
    );
  for (const field of [...faultFlags.match, ...faultFlags.details]) command.addOption(flaggedOption(field));
  return command
    .addOption(dataDirectoryOption())
    .addOption(jsonOption())
    .action(
      async (name: string | undefined, flags: FaultFlags, command: Command) =>
        await setFault(terminal, name, flags, command),
    );
}

async function setFault(
  terminal: Terminal,
  name: string | undefined,
  flags: FaultFlags,
  command: Command,
): Promise<void> {
  if (name === undefined && (flags.layer === undefined || flags.action === undefined))
    command.error("error: fault set needs a fault. Pass its name, or --layer and --action.");
  if (name !== undefined && (flags.layer !== undefined || flags.action !== undefined))
    command.error(`error: fault set takes either ${name} or --layer and --action. Leave one of them out.`);
  try {
    const set = faultSchema.parse(await callControl(flags.dataDir, "POST", "/faults", bodyOf(name, flags)));
    print(terminal, flags, set, describe(set));
  } catch (error) {
    throw error instanceof ControlRefusedError
      ? fieldsInFlags(error, name ?? `${flags.layer} ${flags.action}`)
      : error;
  }
}

/** Returns a refusal that names the flag of each wrong field. */
function fieldsInFlags({ message, errors }: ControlRefusedError, named: string): Error {
  if (errors.length === 0) return new Error(message);
  const flagged = errors.map(({ pointer, detail }) => {
    const [field = ""] = pointer.split("/").filter((part) => part !== "" && part !== "match");
    return { flag: flagOf(field) ?? `--${field}`, detail };
  });
  const isUnknown = ({ detail }: { detail: string }) => detail.startsWith("is not a field");
  const unknown = flagged.filter(isUnknown).map(({ flag }) => flag);
  const leaveOut = `${named} takes no ${orList(unknown)}. Leave ${unknown.length === 1 ? "it" : "them"} out.`;
  const wrong = flagged.filter((error) => !isUnknown(error)).map(({ flag, detail }) => `${flag} ${detail}.`);
  return new Error([...wrong, ...(unknown.length === 0 ? [] : [leaveOut])].join(" "));
}

/** The body of POST /faults; what is not given is left out of the JSON. */
function bodyOf(intent: string | undefined, flags: FaultFlags): object {
  const { layer, point, action } = flags;
  const match = valuesOf(flags, faultFlags.match);
  const details = valuesOf(flags, faultFlags.details);
  const count = flags.count === "always" ? null : flags.count;
  if (intent !== undefined) return { intent, point, ...match, count, ...details };
  return { layer, point, action, match, count, ...details };
}

function describe(one: Fault): string {
  const { layer, point, action, match, remaining, hits, depth, delay_ms, status } = one;
  const who = Object.entries(match).map(([field, value]) => `${field} ${value}`);
  const left = remaining === null ? "acts until it is cleared" : `acts ${remaining} more`;
  return [
    `${layer}: ${action} at ${point}`,
    ...(depth === undefined ? [] : [`${depth} deep`]),
    ...(delay_ms === undefined ? [] : [`${delay_ms} ms`]),
    ...(status === undefined ? [] : [`status ${status}`]),
    ...(who.length === 0 ? [] : [`for ${who.join(", ")}`]),
    `has acted ${hits} ${hits === 1 ? "time" : "times"}, ${left}`,
  ].join("; ");
}

function times(text: string): number | "always" {
  if (text === "always") return text;
  try {
    return positive(text);
  } catch {
    throw new InvalidArgumentError(
      `It must be always, or a whole number from 1 to ${Number.MAX_SAFE_INTEGER}.`,
    );
  }
}
