import { Argument, type Command, InvalidArgumentError, Option } from "commander";
import { z } from "zod";
import { relayOperationKinds } from "../../relayer/journal/relay-operation-kind.ts";
import {
  faultDefaults,
  faultIntentNames,
  faultLayers,
  faultLimits,
  placementsOf,
  pointsOf,
  rpcCallers,
} from "../../sandbox/faults/fault-matrix.ts";
import { orList } from "../../server/lib/or-list.ts";
import { flagOf } from "../flag-names.ts";
import { ControlRefusedError, callControl } from "../running/call-control.ts";
import {
  dataDirectoryOption,
  jsonOption,
  optionWithDefault,
  type SandboxFlags,
  wholeNumber,
} from "../shared-options.ts";
import { newCommand, print, type Terminal } from "../terminal.ts";

const fault = z.looseObject({
  layer: z.string(),
  point: z.string(),
  action: z.string(),
  match: z.record(z.string(), z.union([z.string(), z.int()])),
  remaining: z.int().nullable(),
  hits: z.int(),
  depth: z.int().optional(),
  delay_ms: z.int().optional(),
  status: z.int().optional(),
  headers: z.record(z.string(), z.string()).optional(),
  body: z.string().optional(),
});
const list = z.object({ data: z.array(fault) });

const delay = wholeNumber(1, faultLimits.delayMs);
const status = wholeNumber(faultLimits.status.least, faultLimits.status.most);
const mostTimes = 999_999;
const defaultTimes = `${faultDefaults.count}; always for node-down`;
const positive = wholeNumber(1, mostTimes);
const every = (valuesOf: (layer: (typeof faultLayers)[number]) => string[]) => [
  ...new Set(faultLayers.flatMap(valuesOf)),
];

interface FaultFlags extends SandboxFlags {
  layer?: string;
  point?: string;
  action?: string;
  operation?: string;
  relayOperation?: string;
  program?: string;
  subject?: string;
  kind?: string;
  caller?: string;
  method?: string;
  occurrence?: number;
  count?: number | "always";
  depth?: number;
  delay?: number;
  status?: number;
  header?: { [name: string]: string };
  body?: string;
}

/** `routing-sandbox fault set answer-lost --operation executeRefund`, `fault list`, `fault clear`: what shall go wrong. */
export function faultCommand(terminal: Terminal): Command {
  return newCommand(terminal, "fault")
    .description("set and clear faults of the API, the relayer, the node, the chain and deliveries")
    .addCommand(setCommand(terminal))
    .addCommand(listCommand(terminal))
    .addCommand(clearCommand(terminal));
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
    .addOption(new Option("--point <point>", "where it happens").choices(every(pointsOf)));
  return addMatchOptions(command)
    .addOption(
      optionWithDefault("--count <times>", "how many times the fault acts, or always", defaultTimes, times),
    )
    .addOption(
      optionWithDefault("--depth <blocks>", "how many blocks a reorg removes", faultDefaults.depth, positive),
    )
    .addOption(
      optionWithDefault("--delay <milliseconds>", "real time of a delay", faultDefaults.delay_ms, delay),
    )
    .addOption(
      optionWithDefault(
        "--status <code>",
        "the status of the receiver's response",
        faultDefaults.status,
        status,
      ),
    )
    .option(
      "--header <header>",
      `a header of the receiver's response, such as "Retry-After: 3"; repeatable`,
      header,
    )
    .option("--body <text>", "the body of the receiver's response")
    .addOption(dataDirectoryOption())
    .addOption(jsonOption())
    .action(
      async (name: string | undefined, flags: FaultFlags, command: Command) =>
        await setFault(terminal, name, flags, command),
    );
}

/** Adds the options that limit a fault. */
function addMatchOptions(command: Command): Command {
  return command
    .option("--operation <id>", "only on this write of the API, such as executeRefund")
    .option("--program <id>", "only on requests or relay operations of this program")
    .option("--subject <id>", "only on this purchase, merchant or refund")
    .option("--relay-operation <id>", "only on this relay operation")
    .addOption(
      new Option("--kind <kind>", "only on relay operations of this kind").choices(relayOperationKinds),
    )
    .addOption(new Option("--caller <caller>", "only on this caller's calls to the node").choices(rpcCallers))
    .option("--method <name>", "only on calls of this JSON-RPC method")
    .addOption(
      optionWithDefault(
        "--occurrence <number>",
        "the first of the matching requests, relay operations or calls on which it acts",
        1,
        positive,
      ),
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
    const set = fault.parse(await callControl(flags.dataDir, "POST", "/faults", bodyOf(name, flags)));
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
  const isUnknown = ({ detail }: { detail: string }) => detail.includes("is not a field");
  const unknown = flagged.filter(isUnknown).map(({ flag }) => flag);
  const leaveOut = `${named} takes no ${orList(unknown)}. Leave ${unknown.length === 1 ? "it" : "them"} out.`;
  const wrong = flagged.filter((error) => !isUnknown(error)).map(({ flag, detail }) => `${flag} ${detail}.`);
  return new Error([...wrong, ...(unknown.length === 0 ? [] : [leaveOut])].join(" "));
}

/** Reads one more header of an answer. @throws InvalidArgumentError */
function header(text: string, others: { [name: string]: string } = {}): { [name: string]: string } {
  const [, name, value] = /^([^:\s]+):\s*(.*)$/.exec(text) ?? [];
  if (name === undefined || value === undefined)
    throw new InvalidArgumentError('Write a name and a value, such as "Retry-After: 3".');
  return { ...others, [name]: value };
}

/** The body of POST /faults; what is not given is left out of the JSON. */
function bodyOf(intent: string | undefined, flags: FaultFlags): object {
  const { layer, point, action, operation, program, kind, caller, method, occurrence } = flags;
  const { depth, status, body } = flags;
  const { relayOperation: operation_id, subject: subject_id, delay: delay_ms, header: headers } = flags;
  const details = { depth, delay_ms, status, headers, body };
  const match = { operation, program, subject_id, operation_id, kind, caller, method, occurrence };
  const count = flags.count === "always" ? null : flags.count;
  if (intent !== undefined) return { intent, point, ...match, count, ...details };
  return { layer, point, action, match, count, ...details };
}

function listCommand(terminal: Terminal): Command {
  return newCommand(terminal, "list")
    .description("list the faults, including those that no longer act")
    .addOption(dataDirectoryOption())
    .addOption(jsonOption())
    .action(async (flags: SandboxFlags) => {
      const { data } = list.parse(await callControl(flags.dataDir, "GET", "/faults"));
      print(terminal, flags, { data }, data.map(describe).join("\n") || "No faults are set.");
    });
}

function clearCommand(terminal: Terminal): Command {
  return newCommand(terminal, "clear")
    .description("clear all faults and resume mining")
    .addOption(dataDirectoryOption())
    .addOption(jsonOption())
    .action(async (flags: SandboxFlags) => {
      const answer = list.parse(await callControl(flags.dataDir, "DELETE", "/faults"));
      print(terminal, flags, answer, "All faults are cleared.");
    });
}

function describe(one: z.output<typeof fault>): string {
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
    throw new InvalidArgumentError(`It must be always, or a whole number from 1 to ${mostTimes}.`);
  }
}
