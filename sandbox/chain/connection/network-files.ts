import { randomBytes } from "node:crypto";
import { type Hex, isHex, toHex } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { z } from "zod";
import { codeOf } from "../../../protocol/coded-error.ts";
import { describeFileError } from "../../../server/lib/describe-file-error.ts";
import { readInput } from "../../../server/lib/file-kind.ts";
import { replaceFile } from "../../../server/lib/replace-file.ts";
import { SandboxError } from "../../lib/errors/sandbox-error.ts";
import { readJson } from "../../lib/read-json.ts";
import { deployment, hash, type TestAccount } from "../genesis/deployment-record.ts";
import { walletNames } from "../genesis/roles.ts";

const account = z.codec(z.strictObject({ address: z.string(), private_key: hash }), z.custom<TestAccount>(), {
  decode: ({ private_key: privateKey }) => ({ address: privateKeyToAccount(privateKey).address, privateKey }),
  encode: ({ address, privateKey }) => ({ address, private_key: privateKey }),
});

const keysFile = z.strictObject({
  version: z.literal(1),
  /** Secret: the keys of accounts, reviewers and notifications are derived from it. */
  seed: z.string().min(1),
  /** Deploys, and is the admin of the programs. */
  deployer: account,
  programs: z.record(z.string(), z.strictObject({ operator: account, commitment_signer: account })),
  /** The wallets that given states use. */
  wallets: z.partialRecord(z.enum(walletNames), account),
});

/** The keys of a deployment on a node. */
export type NetworkKeys = z.infer<typeof keysFile>;

/** A transaction that was signed before it was sent, so that it is never made twice. */
const sentTransaction = z.strictObject({
  /** The contract or the program that it is about, as in `PurchaseRegistrar`. */
  step: z.string(),
  nonce: z.int(),
  /** The signed bytes; the later ones have higher fees. */
  raw: z.array(z.custom<Hex>((value) => isHex(value))).min(1),
});

const deploymentFile = z.strictObject({
  version: z.literal(1),
  chain_id: z.int(),
  /** As in the option `programs`, which checks them. */
  programs: z.array(z.strictObject({ id: z.string(), name: z.string(), account: z.string() })).min(1),
  /** Everything that was sent so far. */
  transactions: z.array(sentTransaction),
  /** Null until everything is on the chain. */
  deployment: deployment.nullable(),
});

/** A deployment on a node, which may not be complete. */
export type NetworkDeployment = z.infer<typeof deploymentFile>;

/** Returns keys that are in no other file. */
export function newKeys(): NetworkKeys {
  return {
    version: 1,
    seed: toHex(randomBytes(32)).slice(2),
    deployer: newAccount(),
    programs: {},
    wallets: {},
  };
}

/** Returns an account with a key of its own. */
export function newAccount(): TestAccount {
  const privateKey = generatePrivateKey();
  return { address: privateKeyToAccount(privateKey).address, privateKey };
}

/** Reads the file of keys; null when there is none. @throws SandboxError node_unusable */
export async function readKeys(file: string): Promise<NetworkKeys | null> {
  return await read(file, keysFile, "keys");
}

/** Writes the file of keys, which its owner alone can read. */
export async function writeKeys(file: string, keys: NetworkKeys): Promise<void> {
  await replaceFile(file, `${JSON.stringify(z.encode(keysFile, keys), null, 2)}\n`, { mode: 0o600 });
}

/** Reads the file of a deployment; null when there is none. @throws SandboxError node_unusable */
export async function readDeployment(file: string): Promise<NetworkDeployment | null> {
  return await read(file, deploymentFile, "deployment");
}

/** Writes the file of a deployment. */
export async function writeDeployment(file: string, content: NetworkDeployment): Promise<void> {
  await replaceFile(file, `${JSON.stringify(z.encode(deploymentFile, content), null, 2)}\n`, { mode: 0o644 });
}

/** The limits of a file: a deployment has some 100 kB of contracts, and a few hundred bytes for each further transaction. */
const mostOfNetwork = { bytes: 8 * 2 ** 20, values: 500_000 };

async function read<T extends z.ZodType>(
  file: string,
  schema: T,
  option: string,
): Promise<z.output<T> | null> {
  let bytes: Buffer;
  try {
    bytes = await readInput(file, mostOfNetwork);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return null;
    throw new SandboxError(
      "node_unusable",
      `${file}, which the option network.${option} names, cannot be read: ${describeFileError(error)}. Name the file that routing-sandbox deploy has written.`,
      { cause: error },
    );
  }
  const { data, error } = schema.safeParse(readJson(bytes.toString()));
  if (data !== undefined) return data;
  const [issue] = error?.issues ?? [];
  throw new SandboxError(
    "node_unusable",
    `${file} is no file of ${option}: ${issue?.path.join(".") || "its content"} is invalid. Name the file that routing-sandbox deploy has written.`,
  );
}
