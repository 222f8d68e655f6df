import { type Hex, hexToString, isAddress, isHex, maxUint256, numberToHex, stringToHex } from "viem";
import { z } from "zod";
import { purchaseRegistrarAbi, testUsdcAbi } from "../../protocol/abi.generated.ts";
import { URL } from "../../protocol/globals.ts";
import { readCall } from "../../protocol/read-call.ts";
import type { Json } from "../../protocol/values/json.ts";
import { createChainClient } from "../../sandbox/chain/client/chain-client.ts";
import { knownMethods } from "../../sandbox/chain/rpc/methods/method-list.ts";
import { SandboxError } from "../../sandbox/lib/errors/sandbox-error.ts";
import { showValue } from "../../sandbox/lib/errors/show-value.ts";
import { accountOf, Wallet } from "../../sandbox/wallets/wallet.ts";

/**
 * An error that a wallet answers a page with. Its code is one of EIP-1193, EIP-1474 or EIP-3085: 4001 for a rejected request, 4100 for an
 * account that is not connected, 4900 and 4901 for a chain that is not, 4902 for an unknown chain.
 * Not a CodedError: a page expects the number of EIP-1193 in `code`.
 *
 * @example throw new ProviderError(4001, "The user rejected the request.")
 */
export class ProviderError extends Error {
  override readonly name = "ProviderError";
  readonly code: number;
  /** The data that a node adds, such as that of a revert. */
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

const hex = z.templateLiteral(["0x", z.string()]);
const bytes = z.custom<Hex>(isBytes, "must be whole bytes in hex with 0x");
const account = z.custom<Hex>(
  isChecksummed,
  "must be 0x and 40 hex digits, in lower case or with their checksum",
);
/** Further parameters, such as the password of `personal_sign`, mean nothing to a wallet. */
const messageParams = z.tuple([z.string(), z.string()]).rest(z.unknown());
const typedDataParams = z.tuple([hex, z.union([z.string(), z.record(z.string(), z.unknown())])]);
const fields = z.array(z.object({ name: z.string(), type: z.string() }));
/** EIP-712 lets a domain have any of these members, and MetaMask takes a missing `EIP712Domain` for one of none. */
const typedDataBody = z.object({
  domain: z.object({
    name: z.string().optional(),
    version: z.string().optional(),
    chainId: z.coerce.bigint<string | number>().optional(),
    verifyingContract: hex.optional(),
    salt: hex.optional(),
  }),
  types: z
    .record(z.string(), fields)
    .transform((types): Record<string, z.infer<typeof fields>> => ({ EIP712Domain: [], ...types })),
  primaryType: z.string(),
  message: z.record(z.string(), z.unknown()),
});
/** As MetaMask takes it: hexadecimal of either case, not padded and not zero. */
const chainId = z
  .string()
  .regex(/^0x[1-9a-fA-F][0-9a-fA-F]*$/, "must be 0x and hexadecimal without leading zeros, such as 0x7a69")
  .transform((id) => numberToHex(BigInt(id)));
/** A number in hex, as JSON-RPC has it. */
const quantity = (unit: string) =>
  z.custom<Hex>(
    (value) => isInteger(value, 0n, maxUint256) && isHex(value),
    `must be ${unit} in hex with 0x`,
  );
const delegatesNot = "a wallet delegates to no contract for a page";
const sendParams = z.tuple([
  z.object({
    from: hex,
    to: account.nullish(),
    data: bytes.optional(),
    input: bytes.optional(),
    value: quantity("wei").optional(),
    chainId: chainId.optional(),
    gas: quantity("gas").optional(),
    // The wallet chooses these; a wrong one is refused, as MetaMask does.
    gasPrice: quantity("wei").optional(),
    maxFeePerGas: quantity("wei").optional(),
    maxPriorityFeePerGas: quantity("wei").optional(),
    nonce: quantity("transactions").optional(),
    type: z.enum(["0x0", "0x1", "0x2"], `must be 0x0, 0x1 or 0x2: ${delegatesNot}`).optional(),
    authorizationList: z.undefined(`must be left out: ${delegatesNot}`).optional(),
  }),
]);
const chainParams = z.tuple([z.object({ chainId })]);
/** EIP-3085 requires the id only; a wallet that knows nothing else of the chain, as MetaMask, also a name and a node. */
const newChainParams = z.tuple([
  z.object({ chainId, chainName: z.string().min(1), rpcUrls: z.array(z.url()).min(1) }),
]);
/** EIP-2255: the wallet has one permission, to see its accounts. */
const permissionParams = z.tuple([z.strictObject({ eth_accounts: z.record(z.string(), z.unknown()) })]);

/**
 * Methods that a wallet passes on to its node: not those by which a node would sign or send without the owner's consent, no method that only test
 * nodes have, which would change the chain without this consent, and no subscription, whose messages it does not pass on.
 */
const passedOn = /^(?:eth_(?!sign|send(?!RawTransaction)|(?:un)?subscribe)|net_|web3_)/;

/** A decoded request of a page. */
export type DecodedRequest =
  | {
      type: "transaction";
      from: Hex;
      to: Hex;
      data: Hex;
      /** Wei, as a decimal string. */
      value: string;
      /** The function of the token or the registrar contract, and its arguments by name; null for any other call. */
      function: string | null;
      args: { [name: string]: Json } | null;
      /** The chain that the page names, as hex; null when it names none, which means the selected one. */
      chain_id: Hex | null;
      /** The gas limit that the page names, as a decimal string; null when the wallet chooses it. */
      gas: string | null;
    }
  | { type: "typed_data"; from: Hex; typed_data: z.infer<typeof typedDataBody> }
  | { type: "message"; from: Hex; text: string; bytes: Hex }
  | { type: "chain"; chain_id: Hex; rpc_urls: string[] }
  | { type: "connection" }
  | { type: "disconnection" }
  | { type: "read" };

/** How a wallet answered a request: with a result, or with an error of EIP-1193. */
export type RequestOutcome =
  | { status: "answered"; result: unknown }
  | { status: "refused"; code: number; message: string };

/**
 * A request of a page to its wallet.
 *
 * @example expect(wallet.requests.at(-1)?.decoded).toMatchObject({ type: "transaction", function: "pay" });
 */
export interface WalletRequest {
  method: string;
  params: unknown;
  decoded: DecodedRequest;
  /** Null while the page waits for the answer. */
  outcome: RequestOutcome | null;
}

/**
 * Decodes a request of a page.
 *
 * @throws ProviderError -32602 when the parameters are not those of the method; 4200 for a method that a wallet
 * does not have.
 * @example decodeRequest("personal_sign", ["0x6869", buyer]) // { type: "message", from: buyer, text: "hi", bytes: "0x6869" }
 */
// Long: one case for each method.
export function decodeRequest(method: string, params: unknown): DecodedRequest {
  switch (method) {
    case "eth_requestAccounts":
      return { type: "connection" };
    case "wallet_requestPermissions":
      read(method, permissionParams, params);
      return { type: "connection" };
    case "wallet_revokePermissions":
      read(method, permissionParams, params);
      return { type: "disconnection" };
    case "wallet_getPermissions":
      return { type: "read" };
    case "eth_sendTransaction": {
      const [transaction] = read(method, sendParams, params);
      const { from, to, data, input, value = "0x0", chainId: chain_id = null, gas } = transaction;
      // Its node does, but the sandbox's contracts are deployed already, and what a page sends without `to` is more likely a mistake.
      if (to == null)
        throw new ProviderError(
          -32_602,
          "The transaction has no `to`, and the wallet deploys no contracts. Add `to`, or deploy through the chain RPC.",
        );
      const calldata = data ?? input ?? "0x";
      if (input !== undefined && input.toLowerCase() !== calldata.toLowerCase())
        throw new ProviderError(-32_602, "The transaction has `data` and another `input`. Send one of them.");
      const call = readCall(purchaseRegistrarAbi, calldata) ?? readCall(testUsdcAbi, calldata);
      if (transaction.gasPrice !== undefined && transaction.maxFeePerGas !== undefined)
        throw new ProviderError(
          -32_602,
          "The transaction has `gasPrice` and `maxFeePerGas`. Send one of them.",
        );
      const limit = gas === undefined ? null : BigInt(gas).toString();
      const known = { function: call?.function ?? null, args: call?.args ?? null, chain_id, gas: limit };
      return { type: "transaction", from, to, data: calldata, value: BigInt(value).toString(), ...known };
    }
    case "personal_sign":
      return readMessage(read(method, messageParams, params));
    case "eth_signTypedData_v3":
    case "eth_signTypedData_v4": {
      const [from, data] = read(method, typedDataParams, params);
      const typed_data = read(method, typedDataBody, parseJson(data));
      const { primaryType, message, types, domain } = typed_data;
      const isArray = ({ type }: { type: string }) => type.endsWith("]");
      if (method === "eth_signTypedData_v3" && Object.values(types).flat().some(isArray))
        throw new ProviderError(-32_602, "eth_signTypedData_v3 signs no arrays. Use eth_signTypedData_v4.");
      // A domain alone is signed without a message.
      const wrong =
        wrongMember("EIP712Domain", domain, types, "") ??
        (primaryType === "EIP712Domain" ? null : wrongMember(primaryType, message, types, ""));
      if (wrong !== null) throw new ProviderError(-32_602, `The typed data ${wrong}.`);
      return { type: "typed_data", from, typed_data };
    }
    case "wallet_switchEthereumChain": {
      const [{ chainId: id }] = read(method, chainParams, params);
      return { type: "chain", chain_id: id, rpc_urls: [] };
    }
    case "wallet_addEthereumChain": {
      const [{ chainId: id, rpcUrls }] = read(method, newChainParams, params);
      return { type: "chain", chain_id: id, rpc_urls: rpcUrls };
    }
    default:
      if (passedOn.test(method) && knownMethods.has(method)) return { type: "read" };
      throw new ProviderError(
        4200,
        `The wallet does not support ${method}. Use personal_sign, eth_signTypedData_v4 or eth_sendTransaction, or ask the chain RPC.`,
      );
  }
}

/** The members of a struct. */
const members = z.record(z.string(), z.unknown());

/** Says which member of a type has no value of its own type, with the members that it is in; null if all have. */
function wrongMember(
  type: string,
  value: unknown,
  types: z.infer<typeof typedDataBody>["types"],
  path: string,
): string | null {
  const [, element, count] = /^(.*)\[(\d*)\]$/.exec(type) ?? [];
  const wanted = element === undefined ? plainTypes(type) : listOf(count);
  if (wanted !== null) {
    if (value === undefined) return `has no value for the member ${path}`;
    if (!wanted.accepts(value))
      return `is not valid: the member ${path} must be ${wanted.what}, not ${showValue(value)}`;
  }
  if (element !== undefined)
    return firstWrong(z.array(z.unknown()).parse(value), (one) => wrongMember(element, one, types, path));
  if (wanted !== null) return null;
  if (value === undefined) return `has no value for the member ${path}`;
  if (!Object.hasOwn(types, type)) return `is not valid: there is no type ${type}`;
  if (!members.safeParse(value).success)
    return `is not valid: the member ${path} must be an object of the type ${type}, not ${showValue(value)}`;
  return firstWrong(types[type] ?? [], ({ name, type: inner }) =>
    wrongMember(inner, Reflect.get(Object(value), name), types, path === "" ? name : `${path}.${name}`),
  );
}

function firstWrong<T>(values: readonly T[], find: (value: T) => string | null): string | null {
  return values.map(find).find((wrong) => wrong !== null) ?? null;
}

/** The values of a type of EIP-712. */
interface Values {
  what: string;
  accepts: (value: unknown) => boolean;
}

function listOf(count = ""): Values {
  const isCounted = (list: unknown[]) => count === "" || list.length === Number(count);
  return {
    what: count === "" ? "an array" : `an array of ${count}`,
    accepts: (value) => Array.isArray(value) && isCounted(value),
  };
}

/** Returns the values of a type that is no struct; null for a struct. */
function plainTypes(type: string): Values | null {
  if (type === "string") return { what: "a text", accepts: (value) => typeof value === "string" };
  if (type === "bool") return { what: "true or false", accepts: (value) => typeof value === "boolean" };
  if (type === "address") return { what: "an address", accepts: isChecksummed };
  const [, name, size = ""] = /^(bytes|u?int)(\d*)$/.exec(type) ?? [];
  if (name === undefined || !isSize(name, size)) return null;
  if (name === "bytes")
    return {
      what: size === "" ? "whole bytes in hex with 0x" : `${size} bytes in hex with 0x`,
      accepts: (value) => isBytes(value) && (size === "" || value.length === 2 + 2 * Number(size)),
    };
  const bits = BigInt(size);
  const [least, most] =
    name === "uint" ? [0n, 2n ** bits - 1n] : [-(2n ** (bits - 1n)), 2n ** (bits - 1n) - 1n];
  return { what: `an integer of the type ${type}`, accepts: (value) => isInteger(value, least, most) };
}

/** Whether a type has a size: bytes of any number, or 1 to 32; an integer of 8 to 256 bits, which EIP-712 has no short name for. */
function isSize(name: string, size: string): boolean {
  if (name === "bytes" && size === "") return true;
  const [step, most] = name === "bytes" ? [1, 32] : [8, 256];
  const number = Number(size);
  return String(number) === size && number >= step && number <= most && number % step === 0;
}

function isInteger(value: unknown, least: bigint, most: bigint): boolean {
  const isWritten = typeof value === "string" && /^(?:-?\d+|0x[0-9a-f]+)$/i.test(value);
  if (!isWritten && typeof value !== "bigint" && !Number.isSafeInteger(value)) return false;
  const integer = BigInt(value as string | bigint | number);
  return integer >= least && integer <= most;
}

function isBytes(value: unknown): value is Hex {
  return typeof value === "string" && /^0x(?:[0-9a-f]{2})*$/i.test(value);
}

function isChecksummed(value: unknown): boolean {
  return typeof value === "string" && isAddress(value);
}

/** Reads a message as MetaMask does: hexadecimal, with or without 0x, is bytes, and anything else is a text; the account may come first. */
function readMessage([first, second]: readonly [string, string, ...unknown[]]): DecodedRequest {
  const [message, from] = isAccount(first) && !isAccount(second) ? [second, first] : [first, second];
  if (!isAccount(from)) throw new ProviderError(-32_602, "The parameters of personal_sign name no account.");
  const [, marked, bare] = /^(?:0x((?:[0-9a-f]{2})*)|((?:[0-9a-f]{2})+))$/i.exec(message) ?? [];
  const digits = marked ?? bare;
  const bytes: Hex = digits === undefined ? stringToHex(message) : `0x${digits}`;
  return { type: "message", from, text: hexToString(bytes), bytes };
}

function isAccount(text: string): text is Hex {
  return isAddress(text, { strict: false });
}

function read<T>(method: string, schema: z.ZodType<T>, value: unknown): T {
  const { data, error } = schema.safeParse(value);
  if (error === undefined) return data;
  throw new ProviderError(-32_602, `The parameters of ${method} are not valid: ${z.prettifyError(error)}`);
}

function parseJson(value: unknown): unknown {
  if (typeof value !== "string") return value;
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}

/** A wallet of a sandbox that runs in another process: a key of its `sandbox.json`, and the URL of its chain RPC. */
export interface WalletKey {
  private_key: Hex;
  rpc_url: string;
}

/**
 * Returns a wallet of the sandbox, or opens the one of a key.
 *
 * @param caller - the function that was given it, for the message.
 * @throws SandboxError argument_invalid when it is neither.
 */
export function toWallet(caller: string, given: Wallet | WalletKey): Wallet {
  if ("signTypedData" in Object(given)) return given as Wallet;
  const key = given as Partial<WalletKey> | undefined;
  if (typeof key?.private_key !== "string" || typeof key.rpc_url !== "string")
    throw new SandboxError(
      "argument_invalid",
      `${caller} takes a wallet of the sandbox, not ${showWithoutKeys(given)}. Pass sandbox.wallets.buyer, or { private_key, rpc_url }.`,
    );
  if (!URL.canParse(key.rpc_url))
    throw new SandboxError(
      "argument_invalid",
      `${caller} takes the URL of a chain RPC as rpc_url, not ${showValue(key.rpc_url)}. Pass urls.rpc of sandbox.json.`,
    );
  return new Wallet(accountOf(caller, key.private_key), createChainClient(key.rpc_url));
}

/** Shows a value without private keys: what is longer than an address is masked. */
function showWithoutKeys(value: unknown): string {
  return showValue(value).replaceAll(/0x[0-9a-f]{41,}/gi, "0x…");
}
