import type { Argument, Option } from "commander";
import { commandsOf, createProgram, exampleOfCommand, type NamedCommand } from "../../cli/program.ts";
import { capitalize } from "../../server/lib/wording.ts";

const program = createProgram(process);

/** The choices of options with many, and the page that lists them. */
const pagesOfChoices: { readonly [option: string]: string } = {
  "--action": "[actions](faults.md#all-faults)",
  "--point": "[points](faults.md#all-faults)",
};

/** The options of commands that another page describes, with their defaults. */
const describedElsewhere: { readonly [command: string]: readonly [where: string, ...flags: string[]] } = {
  start: [
    "As the [options of createSandbox](options.md#options)",
    "--seed",
    "--mode",
    "--listen",
    "--confirmations",
    "--gas-budget",
    "--receiver-url",
    "--auto-deliver",
    "--fresh",
    "--from",
    "--start-timeout",
    "--api-port",
    "--docs-port",
    "--control-port",
    "--rpc-port",
  ],
  deploy: [
    "As in [Public networks](public-network.md#from-nothing-to-a-staging-service)",
    "--token",
    "--programs",
    "--wait",
  ],
  exec: ["As in [Equal runs](ci.md#equal-runs)", "--repeat", "--expect-equal"],
  pool: ["As in [Pool](pool.md)", "--lease", "--wait"],
  mine: ["As in [Time](time.md#mining)", "--every"],
  resume: ["As in [Relayer](relayer.md#foreign-use-of-the-signers-key)", "--abandon"],
  "check-client": [
    "As in [Check a client](check-client.md)",
    "--only",
    "--jobs",
    "--strict",
    "--given",
    "--traces",
  ],
  logs: [
    "As the parameters of [`GET /requests`](control.md#the-request-log)",
    "--status",
    "--operation",
    "--purchase",
    "--limit",
  ],
  explore: ["As the options of an [exploration](explore.md#options)", "--steps", "--seed", "--scenario"],
  "given merchant": [statesAndWallets("merchants"), "--program", "--wallet", "--cap", "--name"],
  "given purchase": [
    statesAndWallets("purchases"),
    "--route",
    "--program",
    "--merchant",
    "--buyer",
    "--beneficiary",
    "--amount",
    "--paid",
    "--permit",
    "--claimed",
    "--award",
  ],
  "fault set": [
    "As the fields of a [fault](faults.md#all-faults)",
    "--program",
    "--subject",
    "--relay-operation",
    "--kind",
    "--caller",
    "--method",
    "--occurrence",
    "--depth",
    "--delay",
    "--status",
    "--body",
  ],
};

/** The pages that have an example of a command. */
const pagesOfCommands: { readonly [command: string]: string } = {
  exec: "[CI](ci.md#run-a-command-with-a-sandbox)",
  pool: "[Pool](pool.md)",
  join: "[PostgreSQL](store.md#the-postgresql-store)",
  travel: "[Time](time.md#travel)",
  fingerprint: "[CI](ci.md#equal-runs)",
  "snapshot save": "[Snapshots](snapshots.md#snapshot-files)",
  "snapshot load": "[Snapshots](snapshots.md#snapshot-files)",
  "scenario record": "[Scenarios](scenarios.md)",
  "scenario play": "[Scenarios](scenarios.md)",
  listen: "[Notifications](notifications.md#receive-deliveries-in-a-terminal)",
  resume: "[Relayer](relayer.md#foreign-use-of-the-signers-key)",
  open: "[CI](ci.md#traces-of-failed-tests)",
  explain: "[Explain](explain.md)",
  "check-client": "[Check a client](check-client.md)",
  "check-contract": "[Check a contract](check-contract.md)",
};

const entries = (lines: readonly string[]) => (lines.length === 0 ? [] : [...lines, ""]);

/** An option of a command; equal keys are the same option, whose default can differ. */
interface CommandOption {
  readonly option: Option;
  readonly key: string;
  readonly path: string;
}

const optionsOf = ({ path, command }: NamedCommand): CommandOption[] =>
  command
    .createHelp()
    .visibleOptions(command)
    .filter(({ long }) => long !== "--help")
    .map((option) => ({ option, key: `${option.flags} ${option.description}`, path }));

const commands = commandsOf(program);
const byKey = Map.groupBy(commands.flatMap(optionsOf), ({ key }) => key);
/** The options that over a third of the commands have, which the page describes first and once. */
const common = [...byKey.values()]
  .filter((same) => same.length > commands.length / 3)
  .flatMap(([first]) => first ?? []);
const commonKeys = common.map(({ key }) => key);
const ofStart = new Map(
  commands
    .filter(({ path }) => path === "start")
    .flatMap(optionsOf)
    .map((one) => [one.key, one]),
);

function placeOf({ key, path }: CommandOption): "common" | "own" | "start" {
  if (commonKeys.includes(key)) return "common";
  return path !== "start" && ofStart.has(key) ? "start" : "own";
}

function describe(named: NamedCommand): string[] {
  const { path, command } = named;
  const shown = command.createHelp();
  const pageOfCommand = pagesOfCommands[path];
  const { own = [], start = [] } = Object.groupBy(optionsOf(named), placeOf);
  const [where = "", ...flags] = describedElsewhere[path] ?? [];
  const [elsewhere, here] = [own.filter(isIn(flags)), own.filter((option) => !isIn(flags)(option))];
  if (elsewhere.length !== flags.length) throw new Error(`${path} lacks an option of ${flags.join(", ")}.`);
  return [
    `## ${path}`,
    "",
    `${sentence(shown.commandDescription(command))}${pageOfCommand === undefined ? "" : ` See ${pageOfCommand}.`}`,
    "",
    ...(pageOfCommand === undefined ? exampleOf(path) : []),
    ...entries([
      ...shown.visibleArguments(command).map(describeArgument),
      ...here.map(({ option }) => describeOption(option)),
      ...list(`${where}: `, elsewhere),
      ...ofStartToo(start, own),
    ]),
  ];
}

function statesAndWallets(section: string): string {
  return `As the options of a [state](states.md#${section}), with the names of the [wallets](tests.md#act-as-a-wallet)`;
}

function isIn(flags: readonly string[]) {
  return ({ option }: CommandOption) => flags.includes(option.long ?? "");
}

/** Returns the block with a command's example, unless it has only its name and the usual options. */
function exampleOf(path: string): string[] {
  const example = exampleOfCommand(path);
  const isBare = example.replace(/( --data-dir \.sandbox| --json)?$/, "") === `routing-sandbox ${path}`;
  return isBare ? [] : ["```sh", example, "```", ""];
}

/** Returns a common option with the commands that do not have it. */
function describeCommon({ option }: CommandOption): string {
  const without = commands.filter(({ command }) => !command.options.some(({ long }) => long === option.long));
  const names = without.map(({ path }) => `\`${path}\``).join(", ");
  return `${describeOption(option)}; not for ${names}`;
}

/** Returns the line of the options that the section of `start` describes: of those that it has or of those that it lacks, the shorter list. */
function ofStartToo(options: readonly CommandOption[], own: readonly CommandOption[]): string[] {
  const has = new Set([...options, ...own].map(({ option }) => option.long));
  const lacks = [...ofStart.values()].filter(({ option }) => !has.has(option.long));
  if (lacks.length >= options.length) return list("As in [start](#start): ", options);
  const changed = options.filter(hasOtherDefault);
  return [
    `- All others of [start](#start) but ${namesOf(lacks)}${changed.length === 0 ? "" : `; with other defaults: ${namesOf(changed)}`}`,
  ];
}

/** Returns a line with options that another section describes, each with its default if it differs from the one there. */
function list(where: string, options: readonly CommandOption[]): string[] {
  return options.length === 0 ? [] : [`- ${where}${namesOf(options)}`];
}

function namesOf(options: readonly CommandOption[]): string {
  return options
    .map((one) => `\`${one.option.long}\`${hasOtherDefault(one) ? ` (${defaultOf(one.option)})` : ""}`)
    .join(", ");
}

function hasOtherDefault({ key, option }: CommandOption): boolean {
  return defaultOf(ofStart.get(key)?.option ?? option) !== defaultOf(option);
}

function describeArgument(argument: Argument): string {
  const { description, argChoices, required, variadic } = argument;
  const name = `${argument.name()}${variadic ? "..." : ""}`;
  return entryOf(
    required ? `<${name}>` : `[${name}]`,
    withChoices(description, argChoices, variadic),
    argument,
  );
}

function describeOption(option: Option): string {
  const page = pagesOfChoices[option.long ?? ""];
  const description =
    page === undefined
      ? withChoices(option.description, option.argChoices)
      : `${option.description}; one of the ${page}`;
  return entryOf(option.flags, description, option);
}

function entryOf(name: string, description: string, of: Argument | Option): string {
  const value = defaultOf(of);
  return `- \`${name}\`: ${description}${value === "" ? "" : ` (default: ${value})`}`;
}

function withChoices(text: string, choices: readonly string[] | undefined, variadic = false): string {
  if (choices === undefined) return text;
  // Such as "live: time follows the wall clock; deterministic: …".
  if (choices.every((choice) => text.includes(`${choice}: `)))
    return choices.reduce((named, choice) => named.replace(`${choice}: `, `\`${choice}\`: `), text);
  return `${text}; ${variadic ? "any" : "one"} of ${choices.map((choice) => `\`${choice}\``).join(", ")}`;
}

function defaultOf({ defaultValue, defaultValueDescription }: Argument | Option): string {
  const text = defaultValueDescription ?? (defaultValue === undefined ? "" : String(defaultValue));
  return /^\S+$/.test(text) ? `\`${text}\`` : text;
}

/** Returns the description of a command as a sentence of the page: the help has no links and no code. */
function sentence(text: string): string {
  const onPage = text
    .replace(
      "the page /docs/faults.md of the documentation host lists all faults",
      "see [all faults](faults.md#all-faults)",
    )
    .replaceAll(/\b[A-Z]+(?:_[A-Z]+)+\b/g, "`$&`");
  return `${capitalize(onPage)}.`;
}

const generated = `${[
  "# Command line",
  "",
  "<!-- Generated by `npm run generate` from the commands themselves. Do not edit. -->",
  "",
  "Run `npx routing-sandbox <command>`, or `npm run -s sandbox -- <command>` in a checkout. `--help` lists a command's options. After a failure, the",
  "last line on standard error says what to do.",
  "",
  "Exit codes, besides those of [`exec`](ci.md#run-a-command-with-a-sandbox) and [`check-client`](check-client.md#verdicts):",
  "",
  "- 0: The command succeeded.",
  "- 1: The command failed. Or `explain` found no step that would accept the transaction, the call or the signature; `check-contract` a broken rule;",
  "  `doctor` a problem; `deliver` an exhausted event.",
  "- 2: Anvil failed during `check-contract`.",
  "",
  "## Common options",
  "",
  "A command's section describes them only if they mean something else there.",
  "",
  ...entries(common.map(describeCommon)),
  "## Configuration",
  "",
  "The options of `start`, `exec`, `pool`, `join`, `check-client` and `doctor` can also be set by environment variables or in a config file. A flag wins over",
  "the environment, and the environment over the file.",
  "",
  "- **Environment:** such as `ROUTING_SANDBOX_API_PORT=0` for `--api-port`. Separate the entries of a repeatable option by commas. For a flag",
  "  without a value, the variable is `true` or `false`.",
  "- **Config file:** `routing-sandbox.config.json` or `routing-sandbox.config.yaml` in the current folder. Its keys are the names of the flags (`api-port`",
  "  or `apiPort`), or those of [createSandbox](options.md) (`ports: { api: 0 }`). Use one name for each option.",
  "",
  "An unknown name is refused. `deploy` takes only the options of its node. `ROUTING_SANDBOX_DATA_DIR` is the data directory of all commands, but does not",
  "change what a command of `exec` talks to. `doctor` shows each value that is not a default, and where it came from.",
  "",
  ...commands.flatMap(describe),
  "Load the script into your shell. `routing-sandbox` must be on the PATH:",
  "",
  "- bash, with the package bash-completion: `source <(routing-sandbox completion bash)`",
  "- zsh: `source <(routing-sandbox completion zsh)`",
  "- fish: `routing-sandbox completion fish | source`",
  "- PowerShell: `routing-sandbox completion powershell | Out-String | Invoke-Expression`",
].join("\n")}`.trimEnd();

/** The page of the command line, from the description that it is parsed by. */
export const files = { "docs/cli.md": `${generated}\n` };
