import { type Command, InvalidArgumentError, Option } from "commander";
import { type Address, isAddress } from "viem";
import { readJson } from "../../sandbox/lib/read-json.ts";
import type { ProgramOption } from "../../sandbox/options/programs.ts";
import { describeFileError } from "../../server/lib/describe-file-error.ts";
import { readInput } from "../../server/lib/file-kind.ts";
import { addNetworkOptions, defaultDeployment, defaultKeys, type NetworkFlags } from "../network-options.ts";
import { jsonOption } from "../shared-options.ts";
import { newCommand, print, type Terminal } from "../terminal.ts";

interface DeployFlags extends NetworkFlags {
  token?: Address;
  programs?: string;
  wait?: boolean;
  json?: boolean;
}

/** `routing-sandbox deploy`: deploys the contracts on the chain of a node. */
export function deployCommand(terminal: Terminal): Command {
  return addNetworkOptions(
    newCommand(terminal, "deploy").description(
      "deploy the contracts on the test network of a node, for start --rpc-url; if it is interrupted, run it again",
    ),
    false,
  )
    .addOption(
      new Option("--token <address>", "use this test USDC instead of deploying TestUSDC").argParser(
        (text: string) => {
          if (!isAddress(text))
            throw new InvalidArgumentError(
              "It must be an address, all lower case or with the right EIP-55 checksum.",
            );
          return text;
        },
      ),
    )
    .option("--programs <file>", "the programs to open (JSON): an array of ids or of { id, name, account }")
    .option("--wait", "wait until every account has the test ether that it needs")
    .addOption(jsonOption("print the deployment as JSON"))
    .action(async (flags: DeployFlags) => await deployAs(terminal, flags));
}

async function deployAs(terminal: Terminal, flags: DeployFlags): Promise<void> {
  const { deploy } = await import("../../sandbox/deploy/deploy.ts");
  const {
    rpcUrl = [],
    keys = defaultKeys,
    deployment = defaultDeployment,
    token,
    programs: file,
    wait = false,
    allowChainId,
    json,
  } = flags;
  const tell = (sentence: string) => void (json ? terminal.stderr : terminal.stdout).write(`${sentence}\n`);
  const deployed = await deploy({
    rpcUrls: rpcUrl,
    keys,
    deployment,
    wait,
    tell,
    ...(token === undefined ? {} : { token }),
    ...(allowChainId === undefined ? {} : { allowChainId }),
    ...(file === undefined ? {} : { programs: await readPrograms(file) }),
  });
  const { chainId: chain_id, epoch, registrar, fundingSource, epochBlock } = deployed;
  const shown = {
    chain_id,
    epoch,
    token: deployed.token.address,
    registrar: registrar.address,
    funding_source: fundingSource.address,
    block: epochBlock.number,
  };
  print(
    terminal,
    flags,
    shown,
    Object.entries(shown)
      .map(([name, value]) => `  ${name.padEnd(14)}  ${value}`)
      .join("\n"),
  );
}

/** The limits of the file of programs, of which a network has a few. */
const mostOfPrograms = { bytes: 2 ** 20, values: 100_000 };

async function readPrograms(file: string) {
  const { resolvePrograms } = await import("../../sandbox/options/programs.ts");
  const bytes = await readInput(file, mostOfPrograms).catch((cause: unknown) => {
    throw new Error(
      `--programs ${file} cannot be read: ${describeFileError(cause)}. Name a JSON file of programs.`,
      { cause },
    );
  });
  const programs: unknown = readJson(bytes.toString());
  if (!isPrograms(programs))
    throw new Error(`${file} is no list of programs. Write one such as ["prg_demo", { "id": "prg_books" }].`);
  return resolvePrograms(programs);
}

function isPrograms(value: unknown): value is ProgramOption[] {
  return (
    Array.isArray(value) &&
    value.every(
      (one: unknown) => typeof one === "string" || (typeof one === "object" && one !== null && "id" in one),
    )
  );
}
