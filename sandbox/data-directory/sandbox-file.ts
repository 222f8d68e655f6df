import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { describeFileError } from "../../server/lib/describe-file-error.ts";
import { fileKind, openFile, readText } from "../../server/lib/file-kind.ts";
import { replaceFile } from "../../server/lib/replace-file.ts";
import { unwritable } from "../../server/store/directory/directory-store.ts";
import { StoreUnavailableError } from "../../server/store/store.ts";
import { SandboxError } from "../lib/errors/sandbox-error.ts";
import type { SandboxDescription } from "../options/description.ts";

/** The prefix of each line of `.env`. */
const variable = "ROUTING_SANDBOX_";

/** Publishes a running sandbox in its data directory as `sandbox.json` and `.env`; both appear whole or not at all. */
export async function publish(directory: string, description: SandboxDescription): Promise<void> {
  const files = [
    { path: join(directory, ".env"), text: toEnvironment(description) },
    { path: join(directory, "sandbox.json"), text: `${JSON.stringify(description, null, 2)}\n` },
  ];
  for (const { path, text } of files)
    await replaceFile(path, text).catch((cause: unknown) => {
      throw unwritable(path, cause);
    });
}

/**
 * Reads a file that a sandbox has written for its owner; null when there is none.
 *
 * @throws StoreUnavailableError when this user may not read it.
 */
export async function readOwn(path: string): Promise<string | null> {
  return await readText(path).catch((cause: unknown) => {
    throw new StoreUnavailableError(
      `${path} cannot be read: ${describeFileError(cause)}. Run the command as the user who has started the sandbox, or choose another directory with the option dataDirectory.`,
      { cause },
    );
  });
}

/**
 * Makes sure that no directory, pipe or device has the name of a file that a start reads or writes next to the store.
 *
 * @throws SandboxError data_directory_mismatch
 */
export async function requireFiles(directory: string): Promise<void> {
  for (const name of ["lock.json", "sandbox.json", ".env"])
    if ((await fileKind(join(directory, name))) === "other")
      throw new SandboxError(
        "data_directory_mismatch",
        `${join(directory, name)} is not a file. Move it away, or choose another data directory with the option dataDirectory.`,
      );
}

/**
 * Makes sure that a `.env` is a sandbox's.
 *
 * @throws SandboxError data_directory_mismatch
 */
export async function requireOwnEnvironment(directory: string): Promise<void> {
  const environment = join(directory, ".env");
  if (!existsSync(environment)) return;
  await using file = await openFile(environment, "r");
  const { buffer, bytesRead } = await file.read(Buffer.alloc(variable.length), 0, variable.length, 0);
  if (buffer.toString("utf8", 0, bytesRead) !== variable)
    throw new SandboxError(
      "data_directory_mismatch",
      `${environment} is not a sandbox's. Move it away, or choose another data directory with the option dataDirectory.`,
    );
}

/**
 * Takes away what a killed sandbox left, so that no program waits for a sandbox that does not run.
 *
 * @throws SandboxError data_directory_mismatch when the directory has an `.env` of something else.
 */
export async function unpublish(directory: string): Promise<void> {
  await requireOwnEnvironment(directory);
  await removePublished(directory);
}

/** Removes what {@link publish} has written. */
export async function removePublished(directory: string): Promise<void> {
  for (const name of ["sandbox.json", ".env"]) await rm(join(directory, name), { force: true });
}

function toEnvironment(description: SandboxDescription): string {
  const { urls, chain, contracts, accounts, wallets, reviewer, receiver } = description;
  const values: [string, string | number][] = [
    ["API_URL", urls.api],
    ["DOCS_URL", urls.docs],
    ["RPC_URL", urls.rpc],
    ["CONTROL_URL", urls.control],
    ["CHAIN_ID", chain.chain_id],
    ["TOKEN_ADDRESS", contracts.token],
    ["REGISTRAR_ADDRESS", contracts.registrar],
    ["FUNDING_SOURCE_ADDRESS", contracts.funding_source],
    ...accounts.map(({ id, key }): [string, string] => [`${id.toUpperCase()}_KEY`, key]),
    ...Object.entries(wallets).flatMap(([name, wallet]): [string, string][] => [
      [`${name.toUpperCase()}_ADDRESS`, wallet.address],
      [`${name.toUpperCase()}_PRIVATE_KEY`, wallet.private_key],
    ]),
    ["REVIEWER_KEY_ID", reviewer.key_id],
    ["REVIEWER_PRIVATE_KEY", reviewer.private_key],
    ["RECEIVER_URL", receiver.url],
    ["RECEIVER_HMAC_SECRET", receiver.hmac_secret],
  ];
  return `${values.map(([name, value]) => `${variable}${name}=${value}`).join("\n")}\n`;
}
