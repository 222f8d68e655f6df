import { SandboxError } from "../../lib/errors/sandbox-error.ts";
import type { DeploymentRecord } from "../genesis/deployment-record.ts";
import { type NetworkDeployment, type NetworkKeys, readDeployment, readKeys } from "./network-files.ts";
import type { NetworkOption } from "./network-option.ts";
import { findNetwork } from "./networks.ts";

/** A deployment on a node, with its keys: what the option `network` names, as it was read. */
export interface Network {
  option: NetworkOption;
  keys: NetworkKeys;
  deployment: DeploymentRecord;
  programs: NetworkDeployment["programs"];
}

/** The URLs that an option may have: their schemes, who does not send the user of one, and examples. */
const urlOptions = {
  "network.rpcUrls": {
    schemes: /^(?:https?|wss?):$/,
    withoutUser: /^wss?:$/,
    user: "a user in the URL of a WebSocket, which is not sent",
    example: "https://rpc.example/key or wss://rpc.example/key",
  },
  "network.publicRpcUrl": {
    schemes: /^https?:$/,
    withoutUser: /^/,
    user: "a user in the URL, which pages do not send",
    example: "https://rpc.example",
  },
};

/** Makes sure that an option has URLs of nodes, without naming one, which may have a key. @throws SandboxError option_invalid */
export function requireUrls(option: keyof typeof urlOptions, urls: readonly string[]): void {
  const { schemes, withoutUser, user, example } = urlOptions[option];
  const wrongOf = (url: string) => {
    if (!URL.canParse(url)) return "an invalid URL";
    const { protocol, username } = new URL(url);
    if (!schemes.test(protocol)) return "a URL of another scheme";
    return withoutUser.test(protocol) && username !== "" ? user : null;
  };
  const wrong = urls.length === 0 ? "no URL" : urls.map(wrongOf).find((one) => one !== null);
  if (wrong !== undefined)
    throw new SandboxError(
      "option_invalid",
      `The option ${option} has ${wrong}. Use one such as ${example}.`,
    );
}

/**
 * Reads the files of a network.
 *
 * @throws SandboxError option_invalid for a URL that cannot be used; node_unusable when one is missing, invalid or not complete, or does not belong to the other.
 */
export async function readNetwork(option: NetworkOption): Promise<Network> {
  requireUrls("network.rpcUrls", option.rpcUrls);
  if (option.publicRpcUrl !== undefined) requireUrls("network.publicRpcUrl", [option.publicRpcUrl]);
  const [keys, file] = await Promise.all([readKeys(option.keys), readDeployment(option.deployment)]);
  const lacking = keys === null ? option.keys : file === null ? option.deployment : null;
  if (keys === null || file === null)
    throw unusable(
      `There is no file ${lacking} for the option network.rpcUrls. Run routing-sandbox deploy first.`,
    );
  const { deployment, programs } = file;
  if (deployment === null)
    throw unusable(
      `The deployment in ${option.deployment} is not complete. Run routing-sandbox deploy again.`,
    );
  for (const { id, operator, commitmentSigner } of deployment.programs) {
    const own = keys.programs[id];
    if (own?.operator.address === operator && own.commitment_signer.address === commitmentSigner) continue;
    throw unusable(
      `${option.keys} has other keys for ${id} than those on the chain. Run routing-sandbox deploy again, which replaces them there.`,
    );
  }
  return { option, keys, deployment, programs };
}

/** Returns the refusal of a node, or of the files for it. */
export function unusable(message: string, cause?: unknown): SandboxError {
  return new SandboxError("node_unusable", message, { cause });
}

/** Returns the URL of a network's JSON-RPC that wallets and pages get. @throws SandboxError option_invalid when none is known. */
export async function publicRpcUrl({ option, deployment }: Network): Promise<string> {
  const network = await findNetwork(deployment.chainId);
  // It may be a fork, which the network's own nodes do not have. A path may contain a key.
  const local = option.rpcUrls.find((url) => /^http:\/\/(?:127\.0\.0\.1|localhost)(?::\d+)?\/?$/.test(url));
  const url = option.publicRpcUrl ?? local ?? network?.rpcUrls.default.http[0];
  if (url !== undefined) return url;
  throw new SandboxError(
    "option_invalid",
    "No public URL of the network is known, and wallets need one. Name it with the option network.publicRpcUrl.",
  );
}
