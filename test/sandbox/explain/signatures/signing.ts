import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Hex, hashTypedData, numberToHex, serializeCompactSignature, slice } from "viem";
import { type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts";
import { z } from "zod";
import type { Sandbox } from "../../../../sandbox/create-sandbox.ts";
import { typedDataSchema } from "../../../../server/schemas/transactions.ts";
import { type Ended, tryCli } from "../../../cli/run-cli.ts";

/** Typed data as the API answers it. */
export type TypedDataView = z.output<typeof typedDataSchema>;

/** The account of a wallet of the sandbox, with its key. */
export function accountOf({ description }: Sandbox, name: string): PrivateKeyAccount {
  const wallet = description.wallets[name];
  if (wallet === undefined) throw new Error(`There is no wallet ${name}.`);
  return privateKeyToAccount(wallet.private_key);
}

/** Returns the typed data that the wallet route shows for an action. */
export async function typedDataToSign(
  { description }: Sandbox,
  { program, id }: { program: string; id: string },
  action: string,
): Promise<TypedDataView> {
  const response = await fetch(`${description.urls.api}/wallet/${program}/purchase/${id}?reason=Late`);
  const { actions } = z
    .object({
      actions: z.array(
        z.object({ name: z.string(), sign: z.looseObject({ typed_data: typedDataSchema }).optional() }),
      ),
    })
    .parse(await response.json());
  const found = actions.find(({ name }) => name === action)?.sign?.typed_data;
  if (found === undefined) throw new Error(`The wallet route shows nothing to sign for ${action}.`);
  return found;
}

/** Signs typed data as eth_signTypedData_v4 does. */
export async function signTyped(account: PrivateKeyAccount, typedData: object): Promise<Hex> {
  return await account.sign({ hash: digestOf(typedData) });
}

/** Returns the EIP-712 digest of typed data, by viem alone. */
export function digestOf(typedData: object): Hex {
  return hashTypedData(typedData as Parameters<typeof hashTypedData>[0]);
}

/** The same signature in 64 bytes (EIP-2098). */
export function compact(signature: Hex): Hex {
  const [r, s] = [slice(signature, 0, 32), slice(signature, 32, 64)];
  return serializeCompactSignature({
    r,
    yParityAndS: numberToHex(BigInt(s) | (BigInt(parityOf(signature)) << 255n), { size: 32 }),
  });
}

/** The same signature with the other s. */
export function highS(signature: Hex): Hex {
  const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
  const s = numberToHex(order - BigInt(slice(signature, 32, 64)), { size: 32 });
  return `${slice(signature, 0, 32)}${s.slice(2)}${parityOf(signature) === 0 ? "1c" : "1b"}`;
}

/** The parity of a signature whose v is 27 or 28. */
export function parityOf(signature: Hex): number {
  return Number.parseInt(signature.slice(130), 16) - 27;
}

/** Runs `explain` of the command line, also where it fails. */
export async function runExplain(folder: string, args: readonly string[], input?: string): Promise<Ended> {
  return await tryCli(["explain", ...args, "--data-dir", folder], input);
}

/** Writes JSON into a file of a folder, and returns its name. */
export async function writeJson(folder: string, name: string, value: unknown): Promise<string> {
  const file = join(folder, name);
  await writeFile(file, JSON.stringify(value, null, 2));
  return file;
}
