import { execFile } from "node:child_process";
import { createHash, randomUUID } from "node:crypto";
import { mkdir, readdir, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { brotliDecompress } from "node:zlib";
import { z } from "zod";
import { isError } from "../../../protocol/coded-error.ts";
import { replaceFile } from "../../../server/lib/replace-file.ts";
import { inCheckout, packageRoot } from "../../lib/package-root.ts";
import { temporaryFault, temporaryRemedy } from "../../lib/temporary-fault.ts";
import { anvilVersion } from "../anvil/anvil-binary.ts";
import { accounts, genesisDeployment } from "./deployment-record.ts";
import { GenesisError } from "./genesis-error.ts";
import { genesisKey } from "./genesis-key.ts";

/** The description of a cached state; on disk the amounts are decimal strings. */
export const genesisDescription = z.object({
  key: z.string(),
  /** SHA-256 of the state file, in hex. */
  stateDigest: z.string(),
  deployment: genesisDeployment,
  accounts,
});

/** A prepared chain: the state that Anvil loads, and what is deployed in it. */
export interface Genesis extends z.infer<typeof genesisDescription> {
  /** The absolute path of the state, to be read and never written. */
  readonly stateFile: string;
}

/** The name of the folder of the geneses with a registrar contract of a user. */
export const registrarGeneses = "registrars";

/** The folder of the genesis with this key. */
export function genesisFolder(key: string): string {
  return join(packageRoot(), ".genesis", key);
}

/** The longest state that is decompressed, in bytes: that of a prepared chain has about one MiB. */
const mostStateBytes = 64 * 2 ** 20;

/** SHA-256 of a state file in hex. */
export async function stateDigest(stateFile: string): Promise<string> {
  return createHash("sha256")
    .update(await readFile(stateFile))
    .digest("hex");
}

/**
 * The cached genesis with this key, or `undefined` when there is none or it is not whole.
 *
 * @param folder - where it is; by default the folder of the sandbox's own contracts.
 */
export async function findGenesis(key: string, folder = genesisFolder(key)): Promise<Genesis | undefined> {
  try {
    const text = await readFile(join(folder, "genesis.json"), "utf8");
    const description = genesisDescription.parse(JSON.parse(text));
    if (description.key !== key) return undefined;
    return { ...description, stateFile: await findState(folder, description.stateDigest) };
  } catch {
    return undefined;
  }
}

/**
 * Returns the path of a whole state that Anvil can load. A package has the state compressed. It is decompressed once: next to the compressed file,
 * or in the folder for temporary files if the package's folder is read-only.
 *
 * @throws Error when there is no whole state and no compressed one, or nowhere to write it.
 */
async function findState(folder: string, digest: string): Promise<string> {
  const own = join(folder, "state.json");
  const temporary = join(tmpdir(), `routing-sandbox-genesis-${digest}`, "state.json");
  const isWhole = async (file: string) => (await stateDigest(file).catch(() => null)) === digest;
  for (const file of [own, temporary]) if (await isWhole(file)) return file;
  const state = await promisify(brotliDecompress)(await readFile(`${own}.br`), {
    maxOutputLength: mostStateBytes,
  });
  const file = await writeState(own, state).catch(async () => await writeState(temporary, state));
  if (await isWhole(file)) return file;
  throw new Error(`${own}.br is damaged.`);
}

async function writeState(file: string, state: Uint8Array): Promise<string> {
  await mkdir(dirname(file), { recursive: true });
  await replaceFile(file, state, { mode: 0o644, next: `${file}.${randomUUID()}` });
  return file;
}

/**
 * The genesis for the contracts as they are compiled now. In a checkout a missing, stale or broken one is built (about 3 s, by
 * Hardhat in a process of its own); an installed package brings it along.
 *
 * @param signal - ends the build early.
 * @throws GenesisError `not_compiled` without artifacts, `not_built` when there is no genesis and it cannot be built.
 */
export async function loadGenesis(signal?: AbortSignal): Promise<Genesis> {
  const key = await genesisKey();
  const cached = await findGenesis(key);
  if (cached !== undefined) return cached;
  if (!inCheckout()) throw await unusableGenesis(key);
  const script = join(packageRoot(), "scripts", "deploy.ts");
  try {
    const options = { cwd: packageRoot(), ...(signal === undefined ? {} : { signal }) };
    await promisify(execFile)(process.execPath, [script], options);
  } catch (cause) {
    const reason = isError(cause) && "stderr" in cause ? String(cause.stderr).trim() : String(cause);
    throw new GenesisError(
      "not_built",
      `The genesis could not be built; correct this and start again: ${reason}`,
      { cause },
    );
  }
  const built = await findGenesis(key);
  if (built === undefined) {
    throw new GenesisError(
      "not_built",
      `The genesis was built but is not in ${genesisFolder(key)}. Start again.`,
    );
  }
  return built;
}

// A package brings exactly one prepared chain, and nothing to make another with.
async function unusableGenesis(key: string): Promise<GenesisError> {
  const fault = await temporaryFault();
  if (fault !== null) return new GenesisError("not_built", `${fault} ${temporaryRemedy}.`);
  const folder = dirname(genesisFolder(key));
  const brought = await readdir(folder).catch(() => []);
  return new GenesisError(
    "not_built",
    brought.some((name) => name !== key && name !== registrarGeneses)
      ? `The prepared chain in this package was made for other contracts or another Anvil than are installed (${anvilVersion()}); install routing-sandbox again, without overriding the version of @foundry-rs/anvil.`
      : `The prepared chain ${genesisFolder(key)} is missing or damaged; install routing-sandbox again.`,
  );
}
