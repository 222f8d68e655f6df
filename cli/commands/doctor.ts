import { styleText } from "node:util";
import { type Command, Option } from "commander";
import { defaultPorts } from "../../server/documentation/at-addresses.ts";
import { type ConfiguredValue, configurable, configure } from "../configuration.ts";
import { describeFailure, noteImplied } from "../describe-failure.ts";
import { broken, type Finding, healthy } from "../doctor/finding.ts";
import type { NetworkFlags } from "../network-options.ts";
import {
  addPortOptions,
  dataDirectoryOption,
  jsonOption,
  poolPortOption,
  readSandboxOptions,
  type SandboxFlags,
} from "../shared-options.ts";
import { newCommand, print, type Terminal } from "../terminal.ts";

interface DoctorFlags extends SandboxFlags {
  readonly apiPort: number;
  readonly docsPort: number;
  readonly controlPort: number;
  readonly rpcPort: number;
  readonly port: number;
}

/** `routing-sandbox doctor`: what is wrong with this machine, and what to do about it. */
export function doctorCommand(terminal: Terminal): Command {
  return addPortOptions(
    newCommand(terminal, "doctor")
      .description(
        "find problems of this machine, the running sandbox, its database or its node, and print the remedy for each",
      )
      .addOption(dataDirectoryOption("the data directory to check")),
    defaultPorts,
  )
    .addOption(poolPortOption("the port at which a pool is looked for"))
    .addOption(jsonOption())
    .action(async (flags: DoctorFlags, command: Command) => {
      const [{ examine }, { examinePool }, { examineChainNode }] = await Promise.all([
        import("../doctor/examine.ts"),
        import("../doctor/pool.ts"),
        import("../doctor/services.ts"),
      ]);
      const { dataDir, apiPort, docsPort, controlPort, rpcPort, port } = flags;
      const configured = await readConfigured(command);
      // The messages of what it looks at name how an option was set.
      for (const { flag, source } of configured.values()) if (flag !== source) noteImplied(flag, source);
      const store = configured.get("--store")?.value;
      const findings = await examine({
        dataDirectory: dataDir,
        ports: {
          "--api-port": apiPort,
          "--docs-port": docsPort,
          "--control-port": controlPort,
          "--rpc-port": rpcPort,
        },
        store: typeof store === "string" ? store : undefined,
        onNode: configured.has("--rpc-url"),
        environment: process.env,
      });
      findings.push(await examinePool(port));
      findings.push(...(await examineChainNode(networkFlags(configured))));
      findings.push(describeConfiguration(configured), ...(await findWrongValues(configured)));
      print(terminal, flags, { findings }, render(findings));
      if (findings.some(({ ok }) => !ok)) terminal.exitCode = 1;
    });
}

/** The options of the commands that start sandboxes that have other values than their defaults, by their flags. */
async function readConfigured(doctor: Command): Promise<ReadonlyMap<string, ConfiguredValue>> {
  const commands = doctor.parent?.commands ?? [];
  const values = new Map<string, ConfiguredValue>();
  for (const one of await configure(doctor, commands))
    if (one.flag === one.source && one.flag !== "--json") values.set(one.flag, one);
  for (const command of commands)
    if (configurable.has(command.name()) && command !== doctor)
      for (const one of await configure(command, commands))
        if (!values.has(one.flag)) values.set(one.flag, one);
  return values;
}

/** The values of the options of a node. */
function networkFlags(configured: ReadonlyMap<string, ConfiguredValue>): NetworkFlags {
  const [urls, publicUrl, chainId] = ["--rpc-url", "--public-rpc-url", "--allow-chain-id"].map(
    (flag) => configured.get(flag)?.value,
  );
  return {
    ...(urls !== undefined && { rpcUrl: [urls].flat().map(String) }),
    ...(publicUrl !== undefined && { publicRpcUrl: String(publicUrl) }),
    ...(chainId !== undefined && { allowChainId: Number(chainId) }),
  };
}

/** Finds out why a start would refuse the values; says nothing if it would not. */
async function findWrongValues(values: ReadonlyMap<string, ConfiguredValue>): Promise<Finding[]> {
  const flags = [...values.values()].map(({ flag, value }) => [new Option(flag).attributeName(), value]);
  try {
    // A command can have another data directory, and a database or a node is looked at above.
    const { dataDir: _, ...others } = Object.fromEntries(flags);
    const [{ readSettings }, { pinReceiver }] = await Promise.all([
      import("../../sandbox/create-sandbox.ts"),
      import("../../sandbox/lib/http/pin-receiver.ts"),
    ]);
    const { receiverUrl } = (await readSettings(readSandboxOptions(others))).settings;
    if (receiverUrl !== undefined) await pinReceiver(receiverUrl);
    return [];
  } catch (error) {
    return [broken("options", describeFailure(error), "Change it where it is set.")];
  }
}

/** Says where each value came from. */
function describeConfiguration(values: ReadonlyMap<string, ConfiguredValue>): Finding {
  const shown = [...values.values()].map(
    ({ flag, value, source }) => `${flag} is ${showValue(flag, value)} (${source})`,
  );
  return healthy("configuration", shown.join(", ") || "Every option has its default.");
}

/** A database's URL may have a password, and a node's URL a provider's key. */
function showValue(flag: string, value: unknown): string {
  if (flag === "--store" || flag === "--rpc-url") return "set";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

function render(findings: readonly Finding[]): string {
  const width = Math.max(...findings.map(({ check }) => check.length));
  const lines = findings.flatMap(({ check, ok, found, remedy }) => [
    `${ok ? styleText("green", "✓") : styleText("red", "✗")} ${check.padEnd(width)}  ${found}`,
    ...(remedy === null ? [] : [`${" ".repeat(width + 4)}${styleText("bold", remedy)}`]),
  ]);
  const wrong = findings.filter(({ ok }) => !ok).length;
  const end =
    wrong === 0 ? "No problem found." : wrong === 1 ? "1 problem found." : `${wrong} problems found.`;
  return [...lines, "", end].join("\n");
}
