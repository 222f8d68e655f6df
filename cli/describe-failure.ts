import { causesOf, codeOf, firstError, isError, messageOf } from "../protocol/coded-error.ts";
import { faultFlags } from "../sandbox/faults/fault-request.ts";
import { isLostConnection } from "../sandbox/lib/errors/is-lost-connection.ts";
import { flaggedOptions } from "../sandbox/options/options.ts";
import { describeFileError } from "../server/lib/describe-file-error.ts";
import { describeRefusal } from "../server/lib/describe-refusal.ts";

/** Says why a command has failed, and what to do. */
export function describeFailure(thrown: unknown): string {
  const error = firstError(thrown);
  // A lost connection has a cause, which other errors of the same name do not have.
  if (isLostConnection(error) && isError(error.cause))
    return "The sandbox ended, or closed the connection, before its response was complete. See routing-sandbox status, and run the command again if it has not taken effect.";
  if (messageOf(error) === "Maximum call stack size exceeded")
    return "The input has too many levels. Pass values with at most 64.";
  if (Reflect.get(Object(error), "syscall") === "uv_cwd")
    return "The current folder was removed. Change to another folder, and run the command again.";
  const limit = causesOf(error).find((cause) => ["EMFILE", "ENFILE"].includes(codeOf(cause) ?? ""));
  if (limit !== undefined)
    return `The command cannot continue: ${describeFileError(limit)}. Allow more of them (ulimit -n), and run the command again.`;
  return withSource(inFlags(describeRefusal(error) ?? messageOf(error)));
}

/** Other options (of joinSandbox, explore and listeners), and fields of requests, whose flags have their names. */
const others = [
  "port",
  "jobs",
  "scenario",
  "only",
  "jobs",
  "given",
  "layer",
  "point",
  "action",
  "count",
  "call",
  "typed_data",
  "decision",
  "signature",
];

const flags: ReadonlyMap<string, string> = new Map([
  ...[...flaggedOptions, ...faultFlags.match, ...faultFlags.details].map(
    ({ name, flag }): [string, string] => [name, flag.replace(/ .*/, "")],
  ),
  ...others.map((name): [string, string] => [name, `--${name.replace("_", "-")}`]),
  ["apiPort", "--api-port"],
  ["contracts.registrar", "--registrar"],
  ["network", "--rpc-url"],
  ["network.rpcUrls", "--rpc-url"],
  ["network.keys", "--keys"],
  ["network.deployment", "--deployment"],
  ["network.publicRpcUrl", "--public-rpc-url"],
  ["network.allowChainId", "--allow-chain-id"],
]);

/** How the options were set that no flag sets, by their flags. */
let sources = new Map<string, string>();
let values = new Map<string, readonly string[]>();

/**
 * Notes how options were set that no flag sets: the messages of the command name the environment variable or the key of the config file.
 *
 * @param texts - the values of these options, as text, by what has set them.
 */
export function noteSources(places: Map<string, string>, texts: Map<string, readonly string[]>): void {
  sources = places;
  values = texts;
}

/** Adds to a message about a value that no flag has set what has set it, unless it says so. */
function withSource(message: string): string {
  for (const [place, texts] of values) {
    // A word such as "live" may be about something else.
    const isNamed = texts.some(
      (text) => message.includes(JSON.stringify(text)) || (/[/:_.]/.test(text) && message.includes(text)),
    );
    if (isNamed && !message.includes(place)) return `${message} It is the value of ${place}.`;
  }
  return message;
}

/** Notes that another flag, or what has set that one, has set an option. */
export function noteImplied(flag: string, by: string): void {
  sources.set(flag, asGiven(by));
}

/**
 * Returns how an option was set: its flag, its environment variable, or its key in the config file.
 *
 * @example asGiven("--seed") // "ROUTING_SANDBOX_SEED"
 */
export function asGiven(flag: string): string {
  return sources.get(flag) ?? flag;
}

/**
 * Returns the flag of an option or a field; undefined if the command line has none.
 *
 * @example flagOf("dataDirectory") // "--data-dir"
 */
export function flagOf(name: string): string | undefined {
  return flags.get(name);
}

/**
 * Returns a message of the library with flags, or how else they were set, in place of options: the library writes `the option dataDirectory`, the word that code has,
 * and the command line `--data-dir`, the word that its user typed. An option without a flag stays.
 *
 * @example inFlags("Name the database with the option store.") // "Name the database with --store."
 */
export function inFlags(message: string): string {
  return message.replaceAll(
    /\bthe option ([a-z_]+(?:\.[a-z]+)*)(?:\[\d+\])?(?![\w[])/gi,
    (text, name: string) => asGiven(flagOf(name) ?? text),
  );
}
