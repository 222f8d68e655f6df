import { type Command, Option } from "commander";
import type { NetworkOption } from "../sandbox/chain/connection/network-option.ts";
import { definedOnly } from "../sandbox/lib/defined-only.ts";
import { asGiven } from "./describe-failure.ts";
import { optionWithDefault, wholeNumber } from "./shared-options.ts";

/** The options that {@link addNetworkOptions} gives to a command. */
export interface NetworkFlags {
  readonly rpcUrl?: string[];
  readonly keys?: string;
  readonly deployment?: string;
  readonly publicRpcUrl?: string;
  readonly allowChainId?: number;
}

/** The files of a deployment on a node that names none. */
export const defaultKeys = "keys.json";
export const defaultDeployment = "deployment.json";

/** The option that names the nodes of a chain. */
export function rpcUrlOption(): Option {
  return new Option(
    "--rpc-url <url>",
    "the JSON-RPC of a node of a test network (https or wss); repeatable: a later one is used when the earlier ones do not respond",
  ).argParser((text: string, before: string[] = []) => [...before, text]);
}

/** Adds the options of a node that serves a chain which is not the sandbox's own. @param hasPages - whether the command serves pages to wallets. */
export function addNetworkOptions(command: Command, hasPages: boolean): Command {
  command
    .addOption(rpcUrlOption())
    .addOption(new Option("--keys <file>", "the file with the keys for --rpc-url").default(defaultKeys))
    .addOption(
      new Option("--deployment <file>", "the file with the deployment for --rpc-url").default(
        defaultDeployment,
      ),
    )
    .addOption(
      new Option("--allow-chain-id <id>", "the id of a test network that is not known as one").argParser(
        wholeNumber(1),
      ),
    );
  if (!hasPages) return command;
  return command.addOption(
    optionWithDefault(
      "--public-rpc-url <url>",
      "the JSON-RPC that wallets and pages get",
      "that of the network",
    ),
  );
}

/** Returns the node that the options name; undefined for the sandbox's own chain. @throws Error for a public URL without a node. */
export function networkOf(flags: NetworkFlags): NetworkOption | undefined {
  const {
    rpcUrl: rpcUrls,
    keys = defaultKeys,
    deployment = defaultDeployment,
    publicRpcUrl,
    allowChainId,
  } = flags;
  if (rpcUrls === undefined && publicRpcUrl !== undefined)
    throw new Error(
      `${asGiven("--public-rpc-url")} is the URL of a node, and no node is named. Name it with --rpc-url, or leave out ${asGiven("--public-rpc-url")}.`,
    );
  if (rpcUrls === undefined) return undefined;
  return { rpcUrls, keys, deployment, ...definedOnly({ publicRpcUrl, allowChainId }) };
}
