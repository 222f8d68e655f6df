import addCompletion from "@bomb.sh/tab/commander";
import { type Argument, type Command, Help, type Option } from "commander";
import { packageVersion } from "../sandbox/lib/package-version.ts";
import { checkClientCommand } from "./commands/check-client.ts";
import { checkContractCommand } from "./commands/check-contract.ts";
import { deliverCommand, fingerprintCommand, keysCommand, resumeCommand } from "./commands/control.ts";
import { dataCommand } from "./commands/data.ts";
import { demoCommand } from "./commands/demo.ts";
import { deployCommand } from "./commands/deploy.ts";
import { doctorCommand } from "./commands/doctor.ts";
import { execCommand } from "./commands/exec.ts";
import { explainCommand } from "./commands/explain.ts";
import { exploreCommand } from "./commands/explore.ts";
import { faultCommand } from "./commands/fault.ts";
import { givenCommand } from "./commands/given.ts";
import { joinCommand } from "./commands/join.ts";
import { listenCommand } from "./commands/listen.ts";
import { logsCommand } from "./commands/logs.ts";
import { mcpCommand } from "./commands/mcp.ts";
import { mineCommand } from "./commands/mine.ts";
import { openCommand } from "./commands/open.ts";
import { poolCommand } from "./commands/pool.ts";
import { scenarioCommand } from "./commands/scenario.ts";
import { snapshotCommand } from "./commands/snapshot.ts";
import { startCommand } from "./commands/start.ts";
import { statusCommand } from "./commands/status.ts";
import { stopCommand } from "./commands/stop.ts";
import { traceCommand } from "./commands/trace.ts";
import { travelCommand } from "./commands/travel.ts";
import { configure } from "./configuration.ts";
import { asGiven, describeFailure } from "./describe-failure.ts";
import { newCommand, type Terminal } from "./terminal.ts";

/** An example call of every command, which its help shows. */
const examples: { readonly [command: string]: string } = {
  start: "start --seed checkout --mode deterministic",
  deploy: "deploy --rpc-url https://sepolia.example/key --keys keys.json --deployment deployment.json",
  exec: "exec --seed checkout -- pytest tests",
  pool: "pool --size 8 --port 4030",
  join: "join --store postgres://localhost/sandbox",
  demo: "demo",
  stop: "stop --data-dir .sandbox",
  status: "status --wait --timeout 1m --json",
  "given merchant": "given merchant --state funded",
  "given purchase": "given purchase --state claimed --amount 25000000 --claimed 10000000 --json",
  deliver: "deliver --json",
  travel: "travel 1d12h",
  mine: "mine 3",
  "fault set": "fault set answer-lost --operation executeRefund",
  "fault list": "fault list",
  "fault clear": "fault clear",
  fingerprint: "fingerprint --expect 0x5c504ed432cb51138bcf09aa5e8a410dd4a1e204ef84bfed1be16dfba1b22060",
  "snapshot save": "snapshot save paid.snapshot",
  "snapshot load": "snapshot load paid.snapshot --data-dir .sandbox-paid",
  "scenario record": "scenario record checkout.yaml --title checkout",
  "scenario play": "scenario play checkout.yaml --junit report.xml",
  explore: "explore --steps 2000 --seed nightly --scenario failing.yaml",
  listen: "listen --port 4040 --fail 2 --status 503",
  "keys rotate": "keys rotate notifications",
  resume: "resume op_2qnddi77znbkwo44a63g",
  trace: "trace checkout.trace.html",
  open: "open checkout.trace.html",
  logs: "logs --follow --status 4xx",
  explain: "explain 0x5c504ed432cb51138bcf09aa5e8a410dd4a1e204ef84bfed1be16dfba1b22060",
  "check-client": "check-client --given merchant --junit report.xml -- npm test",
  "check-contract": "check-contract --artifact out/MyRegistrar.sol/MyRegistrar.json --junit report.xml",
  mcp: "mcp --data-dir .sandbox",
  "data verify": "data verify --data-dir .sandbox",
  doctor: "doctor --data-dir .sandbox",
  completion: "completion zsh > ~/.zsh/completions/_routing-sandbox",
};

/** The command line, described once: parsing, help, shell completion and docs/cli.md come from it. */
export function createProgram(terminal: Terminal): Command {
  const program = newCommand(terminal, "routing-sandbox")
    .description(
      "Stablecoin commerce on one machine: a chain, a relayer and a routing API that are reset together.",
    )
    .version(packageVersion())
    .showHelpAfterError("Run with --help to list commands and options.")
    // Of exec: the options of its command are the command's.
    .enablePositionalOptions()
    .addCommand(startCommand(terminal))
    .addCommand(deployCommand(terminal))
    .addCommand(execCommand(terminal))
    .addCommand(poolCommand(terminal))
    .addCommand(joinCommand(terminal))
    .addCommand(stopCommand(terminal))
    .addCommand(demoCommand(terminal))
    .addCommand(statusCommand(terminal))
    .addCommand(givenCommand(terminal))
    .addCommand(deliverCommand(terminal))
    .addCommand(travelCommand(terminal))
    .addCommand(mineCommand(terminal))
    .addCommand(faultCommand(terminal))
    .addCommand(fingerprintCommand(terminal))
    .addCommand(snapshotCommand(terminal))
    .addCommand(dataCommand(terminal))
    .addCommand(scenarioCommand(terminal))
    .addCommand(exploreCommand(terminal))
    .addCommand(listenCommand(terminal))
    .addCommand(keysCommand(terminal))
    .addCommand(resumeCommand(terminal))
    .addCommand(logsCommand(terminal))
    .addCommand(traceCommand(terminal))
    .addCommand(openCommand(terminal))
    .addCommand(explainCommand(terminal))
    .addCommand(checkClientCommand(terminal))
    .addCommand(checkContractCommand(terminal))
    .addCommand(mcpCommand(terminal))
    .addCommand(doctorCommand(terminal));
  program.hook("preAction", async (_program, command) => {
    // As for a wrong flag: the command chooses the exit code.
    await configure(command, program.commands).catch((error: unknown) =>
      command.error(describeFailure(error)),
    );
    requireNames(command);
  });
  for (const group of program.commands) if (group.commands.length > 0) requireCommand(group);
  for (const { command } of commandsOf(program))
    command.configureOutput({ outputError: writeError }).configureHelp(helpWithDefaults);
  addCompletion(program, { completionCommandName: "completion" });
  describeCompletion(program);
  for (const { path, command } of commandsOf(program)) {
    const example = examples[path];
    if (example === undefined) throw new Error(`The command ${path} has no example.`);
    command.addHelpText("after", `\nExample:\n  routing-sandbox ${example}`);
  }
  return program;
}

/** Refuses an empty name of a file or a folder: the system would report that a file is missing, and no name. */
function requireNames(command: Command): void {
  const options = command.options.map((option) => ({
    name: asGiven(option.long ?? ""),
    placeholder: option.flags,
    value: command.getOptionValue(option.attributeName()),
  }));
  const others = command.registeredArguments.map((argument, index) => ({
    name: `<${argument.name()}>`,
    placeholder: `<${argument.name()}>`,
    value: command.processedArgs[index],
  }));
  for (const { name, placeholder, value } of [...options, ...others])
    if (/<(?:file|folder|artifact|path|trace)/.test(placeholder) && [value].flat().includes(""))
      command.error(
        `error: ${name} is empty. Name a ${placeholder.includes("<folder") ? "folder" : "file"}.`,
      );
}

/** Says in the words of the other commands what the library's command does. */
function describeCompletion(program: Command): void {
  const completion = program.commands.find((command) => command.name() === "completion");
  completion?.description("print a script that completes commands in your shell");
  for (const shell of completion?.registeredArguments ?? []) shell.description = "the shell";
}

const help = new Help();

/** Shows each default that the sandbox fills in, which is only described here, as commander shows its own. */
const helpWithDefaults: Partial<Help> = {
  optionDescription: (option) => help.optionDescription(withDescribedDefault(option)),
  argumentDescription: (argument) => help.argumentDescription(withDescribedDefault(argument)),
};

function withDescribedDefault<Described extends Option | Argument>(described: Described): Described {
  const { defaultValue, defaultValueDescription } = described;
  return Object.assign(Object.create(described), { defaultValue: defaultValue ?? defaultValueDescription });
}

/** Makes a group of commands list its commands if none of them is chosen. */
function requireCommand(group: Command): void {
  const names = group.commands.map((command) => command.name());
  const known = new Intl.ListFormat("en", { type: "disjunction" }).format(names);
  group
    .helpCommand(true)
    .allowUnknownOption()
    .allowExcessArguments()
    .action(() => {
      const [name = "-"] = group.args;
      group.error(
        name.startsWith("-")
          ? `error: ${group.name()} needs ${known}.`
          : `error: ${group.name()} has no command ${name}. Use ${known}.`,
      );
    });
}

/** Writes an error of commander. Names a wrong argument as the help does, and adds what to do where commander does not say it. */
function writeError(message: string, write: (text: string) => void): void {
  const named = message.replace(
    /^error: command-argument value '(.*)' is invalid for argument '(.*?)'\./s,
    'error: $2 "$1" is invalid.',
  );
  write(unexplained.test(named) ? `${named}Run with --help to list the options.\n` : named);
}

/** Errors of commander that say only what is wrong. */
const unexplained =
  /^error: (unknown option|missing required argument|required option|too many arguments)[^\n]*\n$/;

/** A command that can be run, with its path, such as `fault set`. */
export interface NamedCommand {
  path: string;
  command: Command;
}

/** Returns the commands that can be run, in order: for a group, the commands in it. */
export function commandsOf(program: Command, parents: readonly string[] = []): NamedCommand[] {
  return program
    .createHelp()
    .visibleCommands(program)
    .filter((command) => command.name() !== "help")
    .flatMap((command) => {
      const path = [...parents, command.name()];
      return command.commands.length > 0 ? commandsOf(command, path) : [{ path: path.join(" "), command }];
    });
}

/** The example that a command's help shows. */
export function exampleOfCommand(path: string): string {
  return `routing-sandbox ${examples[path]}`;
}
